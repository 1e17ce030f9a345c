import type { Line } from './page-lines.ts';
import { commonestSize, HEADING } from './paragraphs.ts';

/** What programs write as a title when none was given: file names, paths, and program names. */
const NO_TITLE =
  /^(?:microsoft (?:word|powerpoint|excel)\b.*|.* - microsoft (?:word|powerpoint|excel)|(?:untitled|unbenannt|sans titre|document|slide|layout|presentation|powerpoint presentation)[\s-]*\d*|\(?anonymous\)?|(?:[a-z]:\\|file:\/\/|\/\w+\/).*|.*\.(?:docx?|dvi|tex|indd|qxd|pdf|pptx?|xlsx?|od[tsp]|rtf|p65|cdr|ai|eps|ps|fm|html?))$/i;
/** A name of a file without its ending, or a number of a document. */
const BARE_NAME = /^(?=\S*[\d_])[\w.-]+$/;

export const isTitle = (text: string): boolean => /\p{L}/u.test(text) && !NO_TITLE.test(text);

/**
 * The title of a PDF: the one in its metadata, unless the largest text of the first page says something else. A stated
 * title that appears there as a heading is kept, as the largest text may be a logo; names of the authors are not a
 * title.
 * @param stated `null`: none is stated
 */
export function pdfTitle(stated: string | null, lines: readonly Line[], authors: readonly string[]): string | null {
  const shown = shownTitle(lines);
  if (stated === null || shown === null) return stated ?? shown?.text ?? null;
  if (BARE_NAME.test(stated)) return shown.text;
  const body = commonestSize(lines);
  if (shown.size <= HEADING * body || !hasWords(shown.text) || isLike(stated, shown.text)) return stated;
  if (isOfAuthors(stated, authors)) return shown.text;
  const headings = lettersOf(lines.flatMap(({ text, size }) => (size > HEADING * body ? [text] : [])).join(' '));
  return headings.includes(lettersOf(stated)) ? stated : shown.text;
}

const MAX_TITLE = 300;
const MAX_LINES = 4;

/** The largest text of a page, where it is larger than the rest. */
function shownTitle(lines: readonly Line[]): { readonly text: string; readonly size: number } | null {
  const worded = lines.filter(({ text }) => isTitle(text.trim()));
  const size = Math.max(...worded.map((line) => line.size));
  const titles = worded.filter((line) => line.size > 0.98 * size);
  const text = titles.map((line) => line.text.trim()).join(' ');
  const isTitled = titles.length <= MAX_LINES && titles.length < worded.length && text.length <= MAX_TITLE;
  return isTitled && text !== '' ? { text, size } : null;
}

const WORDS = /[\p{L}\p{N}]+/gu;
/** Characters of a title in a script without spaces. */
const WIDE_TITLE = 4;

const wordsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(WORDS) ?? [];
const lettersOf = (text: string): string => wordsOf(text).join('');
const hasWords = (text: string): boolean =>
  wordsOf(text).length > 1 ||
  (text.match(/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]/gu)?.length ?? 0) >= WIDE_TITLE;

/** Whether one contains the letters of the other, or they share half the words of the shorter one. */
function isLike(one: string, other: string): boolean {
  const [a, b] = [lettersOf(one), lettersOf(other)];
  if (a.includes(b) || b.includes(a)) return true;
  const [words, others] = [new Set(wordsOf(one)), new Set(wordsOf(other))];
  return 2 * [...words].filter((word) => others.has(word)).length >= Math.min(words.size, others.size);
}

/** A name of a person: `Ada Lovelace`, `J. R. Oppenheimer`, `Ludwig van Beethoven`. */
const NAME = /^\p{Lu}[\p{L}.'’-]*(?: (?:\p{Lu}[\p{L}.'’-]*|van|von|der|den|de|da|di|del|la|le|bin|al)){1,4}$/u;

/** Whether a text has the names that the document states as its authors, or consists of several names. */
function isOfAuthors(text: string, authors: readonly string[]): boolean {
  const names = text.split(/\s*[,;]\s*(?:and\s+)?|\s+(?:and|und|et|&)\s+/).filter((name) => name !== '');
  if (names.length > 1 && names.every((name) => NAME.test(name))) return true;
  const letters = new Set(authors.map(lettersOf));
  return names.every((name) => letters.has(lettersOf(name))) || letters.has(lettersOf(text));
}
