import type { Line, Run } from './page-lines.ts';

export interface Paragraph {
  /** `h1` is the largest heading; `li`: it begins with a bullet. */
  readonly tag: 'p' | 'li' | `h${1 | 2 | 3 | 4 | 5 | 6}`;
  readonly runs: readonly Run[];
}

/** Headings are larger than the text by this factor, and have at most this many characters. */
export const HEADING = 1.12;
const MAX_HEADING = 250;
/** A paragraph ends if the next line is further away than usual by this factor. */
const WIDE_GAP = 1.3;
/** Lines before and after a line that show the width of its column. */
const COLUMN_LINES = 8;
/** Slack of a line beyond the width of the next word, in font sizes, from which the line was ended on purpose. */
const SLACK = 1;
/** Indentation of a first line, in font sizes. */
const INDENT = 0.8;
const MAX_INDENT = 6;
const SIZE_SLACK = 1.05;

const BULLET = /^\s*[•‣◦▪●○■□–—∙·\u{f0b7}]\s+/u;
const ENDS_SENTENCE = /[.!?:。！？：؟][)"'»”’]*\s*$/u;
/** Dots that lead from an entry of a table of contents to its page number. */
const LEADER = /(?:\s*[.·…]){4,}\s*[\divxlc]*\s*$/;
const ENDS_HYPHENATED = /\p{Ll}[-\u00ad\u2010]$/u;
const SPACELESS = /[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f]/;

/** Joins lines to paragraphs, by their distances, indentation and size. */
export function paragraphsOf(pages: readonly (readonly Line[])[]): Paragraph[] {
  const body = commonestSize(pages.flat());
  const tagOf = headingTags(pages, body);
  const found: { tag: Paragraph['tag']; lines: Line[] }[] = [];
  for (const lines of pages) {
    const gap = usualGap(lines, body);
    let isPageStart = true;
    for (const [at, line] of lines.entries()) {
      const last = found.at(-1);
      const before = last?.lines.at(-1);
      const tag = tagOf(line);
      const goesOn =
        last !== undefined &&
        before !== undefined &&
        !BULLET.test(line.text) &&
        (last.tag === tag || (last.tag === 'li' && tag === 'p')) &&
        (isPageStart || line.y > before.y
          ? isUnfinished(before, line)
          : isNextLine(before, line, { gap, right: columnEnd(lines, at) }, last));
      if (goesOn) last.lines.push(line);
      else found.push({ tag: BULLET.test(line.text) && tag === 'p' ? 'li' : tag, lines: [line] });
      isPageStart = false;
    }
  }
  return found.map(({ tag, lines }) => ({ tag, runs: joined(lines, tag === 'li') }));
}

/** The size of most characters: that of the text. */
export const commonestSize = (lines: readonly Line[]): number => commonest(lines, ({ size }) => size, 2);

/** The tag of each line, by the sizes larger than that of the text: the largest is `h1`. */
function headingTags(pages: readonly (readonly Line[])[], body: number): (line: Line) => Paragraph['tag'] {
  const isHeading = ({ size, text }: Line): boolean =>
    size > HEADING * body && text.length <= MAX_HEADING && /\p{L}/u.test(text);
  const sizes = [...new Set(pages.flatMap((lines) => lines.filter(isHeading).map(({ size }) => Math.round(size))))];
  sizes.sort((a, b) => b - a);
  return (line) => {
    if (!isHeading(line)) return 'p';
    const level = Math.min(6, sizes.indexOf(Math.round(line.size)) + 1);
    return `h${level as 1}`;
  };
}

/** Usual distance of lines in relation to their size. */
function usualGap(lines: readonly Line[], body: number): number {
  const gaps = lines.slice(1).flatMap((line, i) => {
    const gap = (lines[i]!.y - line.y) / (line.size || 1);
    return gap > 0.5 && gap < 3 && Math.abs(line.size - body) < 0.5 ? [{ gap, text: line.text }] : [];
  });
  return gaps.length === 0 ? 1.4 : commonest(gaps, ({ gap }) => gap, 20);
}

/** The value that applies to most characters, in steps of `1 / steps`. */
function commonest<Item extends { readonly text: string }>(
  items: readonly Item[],
  measureOf: (item: Item) => number,
  steps: number,
): number {
  const chars = new Map<number, number>();
  for (const item of items) {
    const value = Math.round(measureOf(item) * steps) / steps;
    chars.set(value, (chars.get(value) ?? 0) + item.text.length);
  }
  let [best, most] = [0, -1];
  for (const [value, count] of chars) if (count > most) [best, most] = [value, count];
  return best;
}

/** Whether a line on another page, or in the next column, continues the sentence of the previous one. */
const isUnfinished = (before: Line, { text }: Line): boolean =>
  !ENDS_SENTENCE.test(before.text) && (/^\s*[\p{Ll}(]/u.test(text) || SPACELESS.test(text[0] ?? ''));

interface Layout {
  readonly gap: number;
  /** Right edge of the column. */
  readonly right: number;
}

/** Right edge of the column in which a line stands, by the lines around it. */
function columnEnd(lines: readonly Line[], at: number): number {
  const { left, size } = lines[at]!;
  let end = 0;
  for (const line of lines.slice(Math.max(0, at - COLUMN_LINES), at + COLUMN_LINES)) {
    if (Math.abs(line.left - left) < MAX_INDENT * size && Math.abs(line.size - size) < 1)
      end = Math.max(end, line.right);
  }
  return end;
}

/** Whether a line ends although the first word of the next one would have fitted. */
function isEnded(before: Line, line: Line, right: number): boolean {
  const text = line.text.trimStart();
  const word = SPACELESS.test(text[0] ?? '') ? 1 : (/^\S+/.exec(text)?.[0].length ?? 0);
  const width = ((line.right - line.left) * word) / Math.max(1, line.text.length);
  return right - before.right > width + SLACK * line.size;
}

function isNextLine(
  before: Line,
  line: Line,
  { gap, right }: Layout,
  { tag, lines }: { readonly tag: string; readonly lines: readonly Line[] },
): boolean {
  const size = Math.max(before.size, line.size, 1);
  const distance = (before.y - line.y) / size;
  if (distance > WIDE_GAP * Math.max(gap, 1)) return false;
  if (Math.max(before.size, line.size) > SIZE_SLACK * Math.min(before.size, line.size) + 1) return false;
  if (tag.startsWith('h')) return true;
  const indent = (line.left - Math.min(...lines.slice(-2).map(({ left }) => left))) / size;
  if (tag === 'p' && indent > INDENT && indent < MAX_INDENT && ENDS_SENTENCE.test(before.text)) return false;
  return !LEADER.test(before.text) && !isEnded(before, line, right);
}

/** The text of lines as one, with words joined that were divided at the end of a line. */
function joined(lines: readonly Line[], hasBullet: boolean): Run[] {
  const runs: { readonly href: string | null; readonly parts: string[] }[] = [];
  const add = (text: string, href: string | null): void => {
    const last = runs.at(-1);
    if (last !== undefined && last.href === href) last.parts.push(text);
    else runs.push({ href, parts: [text] });
  };
  for (const [i, { runs: own }] of lines.entries()) {
    for (const [j, { text, href }] of own.entries()) {
      const first = i + j === 0 && hasBullet ? text.replace(BULLET, '') : text;
      const shown = j === own.length - 1 ? first.replace(LEADER, '') : first;
      const before = runs.at(-1);
      if (j > 0 || before === undefined) {
        add(shown, href);
        continue;
      }
      // Only the end of the text so far is examined: a paragraph may be long.
      const end = before.parts.at(-1) ?? '';
      if (ENDS_HYPHENATED.test(end) && /^\p{Ll}/u.test(shown)) {
        before.parts[before.parts.length - 1] = end.slice(0, -1);
        add(shown, href);
      } else if (SPACELESS.test(end.at(-1) ?? '') && SPACELESS.test(shown[0] ?? '')) add(shown, href);
      else {
        // A link over two lines is one.
        add(' ', before.href === href ? href : null);
        add(shown, href);
      }
    }
  }
  return runs.map(({ href, parts }) => ({ href, text: parts.join('') }));
}
