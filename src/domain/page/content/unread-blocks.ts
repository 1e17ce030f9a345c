import { HIDDEN } from './element-signs.ts';
import { hiddenElements } from './hidden-elements.ts';
import type { Outline } from './outline.ts';

/**
 * Blocks that stand on pages for no reader of them get the probability 0: rows that scripts leave for themselves, and
 * what a shop tells each country. Both are too rare among labelled pages to be learnt.
 */
export function dropUnread(outline: Outline, chances: Float64Array): void {
  dropScriptRows(outline, chances);
  dropCountries(outline, chances);
}

/** Wider rows are text. */
const MAX_ROW = 120;
/** `bvseo_sdk, java_sdk, bvseo-4.0.0`; `CLOUD, getReviews, 52.21ms`. */
const ROW = /^[\w.:+-]+(?:, ?[\w.:+-]+)+$/;
/** A name in a program, a version, a time that something took. */
const OF_PROGRAM = /[a-z\d]_[a-z\d]|[a-z][A-Z]|\d\.\d+\.\d|\d ?ms\b/;

/** Hidden lists of names and values without spaces, one of which is of a program. */
function dropScriptRows(outline: Outline, chances: Float64Array): void {
  const { blockCount, blocks, elements, elementCount } = outline;
  let first = 0;
  while (first < elementCount && (elements.signs[first]! & HIDDEN) === 0) first++;
  if (first === elementCount) return;
  const isHidden = hiddenElements(outline);
  const listOf = (block: number): number => elements.parent[blocks.holder[block]!]!;
  const rows: number[] = [];
  const ofPrograms = new Set<number>();
  for (let i = 0; i < blockCount; i++) {
    const holder = blocks.holder[i]!;
    if (holder < 0 || isHidden[holder] === 0 || blocks.width[i]! > MAX_ROW || blocks.marks[i] === 0) continue;
    const text = outline.textOf(i);
    if (!ROW.test(text)) continue;
    rows.push(i);
    if (OF_PROGRAM.test(text)) ofPrograms.add(listOf(i));
  }
  for (const row of rows) if (ofPrograms.has(listOf(row))) chances[row] = 0;
}

/** So many countries are told by a shop, or to be chosen from. */
const LEAST_COUNTRIES = 12;
/** Share of the words of a text that are names of countries. */
const LEAST_SHARE = 0.5;
const MAX_CHOICE = 60;
const CLOSING = 0x29;
/** What a selector shows behind the name of a country: `Albania (ALL L)`, `Austria (EUR €)`. */
const CHOICE = /^(\p{Lu}[\p{L}\p{M} .,&'’()-]+?) \(([A-Z]{3})(?: [^()]{1,6})?\)$/u;
/** What a shop says of where it sends things. */
const SENDING =
  /\b(?:ships?|shipping|shipped|deliver(?:y|s|ed)?|postage|excludes?|versand\w*|liefer\w+|livraison|envíos?|spedizion[ei]|verzend\w+|доставк\w*)\b/iu;

/** Between the names of a list stand fewer characters than between the marks of sentences. */
const MAX_NAME = 24;

function dropCountries(outline: Outline, chances: Float64Array): void {
  const { blockCount, blocks, bytes } = outline;
  const choices: number[] = [];
  for (let i = 0; i < blockCount; i++) {
    const width = blocks.width[i]!;
    if (width <= MAX_CHOICE && bytes[blocks.to[i]! - 1] === CLOSING) {
      const [, name] = CHOICE.exec(outline.textOf(i)) ?? [];
      if (name !== undefined && isCountry(name)) choices.push(i);
    }
    const marks = blocks.marks[i]!;
    if (marks < LEAST_COUNTRIES - 1 || width > MAX_NAME * marks) continue;
    const text = outline.textOf(i);
    const isSending = SENDING.test(text) || (i > 0 && SENDING.test(outline.textOf(i - 1)));
    if (isSending && isOfCountries(text)) chances[i] = 0;
  }
  if (choices.length >= LEAST_COUNTRIES) for (const i of choices) chances[i] = 0;
}

function isOfCountries(text: string): boolean {
  const names = text.split(/[,;:\u3001\uff0c]\s*|\.\s|\s(?:and|und|et|y|e|en|i|и)\s/);
  const countries = names.filter(isCountry).length;
  return countries >= LEAST_COUNTRIES && countries >= LEAST_SHARE * names.length;
}

/** Those of most shops. */
const LANGUAGES = 'en de fr es it pt nl pl ru zh ja'.split(' ');
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Made when a page has a list that may be one of countries. */
let known: ReadonlySet<string> | null = null;

const isCountry = (name: string): boolean => {
  known ??= countryNames();
  return known.has(name.trim().toLowerCase());
};

/** By the codes of ISO 3166 that the runtime knows. */
function countryNames(): ReadonlySet<string> {
  const namesIn = (language: string): Intl.DisplayNames =>
    new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
  const english = namesIn('en');
  const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).filter(
    (code) => english.of(code) !== undefined,
  );
  const names = new Set<string>();
  for (const language of LANGUAGES) {
    const inLanguage = namesIn(language);
    for (const code of codes) {
      const name = inLanguage.of(code);
      if (name !== undefined) names.add(name.toLowerCase());
    }
  }
  return names;
}
