import { BlockTable } from '../block-table.ts';
import { murmur3 } from '../near/hashes.ts';
import {
  type PlacedText,
  type PlacePrint,
  PRINT_BITS,
  placedTexts,
  placePrints,
  type ReadPage,
} from './page-places.ts';
import { spacingDiff, type WordDiff, type WordEdit, wordDiff } from './word-diff.ts';

/** Most places that are remembered one by one. 1,917 labelled pages have 27 (median), 55 (95 %), 98 (most). */
const MAX_PLACES = 64;
/** Stands for all places that are not remembered, or not named. */
export const ELSEWHERE = 'elsewhere';

/** The places of a page at its last visit. */
interface RememberedPlaces {
  /** The print of each place; the largest ones, content first. */
  readonly prints: ReadonlyMap<string, number>;
  /** Sum of the prints of all other places; 0: there were none. */
  readonly others: number;
}

export function rememberPlaces(found: readonly PlacePrint[]): RememberedPlaces {
  return { prints: new Map(found.slice(0, MAX_PLACES)), others: sumOf(found.slice(MAX_PLACES)) };
}

/**
 * Compares two versions of a page: the places whose words differ, in the order found, then those that are gone. The
 * change feed names the result; `diff` shows the words of each place. A place that grew or shrank past others is still
 * compared, since every place of the later version is known.
 */
export function changedPlaces(before: RememberedPlaces, found: readonly PlacePrint[]): string[] {
  const there = new Set(found.map(([place]) => place));
  const others = found.filter(([place]) => !before.prints.has(place));
  const changed = found.filter(([place, print]) => before.prints.has(place) && before.prints.get(place) !== print);
  const gone = [...before.prints.keys()].filter((place) => !there.has(place)).sort();
  // If there were no others before, each place that is not remembered is new.
  const unknown = before.others === 0 ? others.map(([place]) => place) : [];
  const isElsewhere = before.others !== 0 && sumOf(others) !== before.others;
  const order = new Map(found.map(([place], i) => [place, i]));
  const named = [...changed.map(([place]) => place), ...unknown].sort((a, b) => order.get(a)! - order.get(b)!);
  return [...named, ...gone, ...(isElsewhere ? [ELSEWHERE] : [])];
}

/** 0 only if there are no places, so the sum tells whether there are any. */
const sumOf = (places: readonly PlacePrint[]): number =>
  places.length === 0 ? 0 : places.reduce((sum, [place, print]) => (sum + murmur3(place, print)) & 0xff_ffff, 0) || 1;

/** Most names of places in a report. */
export const MAX_NAMED = 3;
const MAX_NAME_CHARS = 60;

/**
 * Names for places, at most `max`. If there are more, places that share the deepest container are joined under its
 * name. A name stands for its place and for all places within it.
 */
export function namedPlaces(places: readonly string[], max = MAX_NAMED): string[] {
  let names = [...places];
  while (names.length > max) {
    const container = deepestShared(names.filter((name) => name !== ELSEWHERE));
    if (container === null) {
      names = [...names.filter((name) => name !== ELSEWHERE).slice(0, max - 1), ELSEWHERE];
      break;
    }
    const first = names.findIndex((name) => isWithin(name, container));
    names = names.flatMap((name, i) => (i === first ? [container] : isWithin(name, container) ? [] : [name]));
  }
  return names.map(shortName);
}

/** A name cut at its beginning: the end says most. */
export const shortName = (name: string): string =>
  name.length <= MAX_NAME_CHARS ? name : `\u2026${name.slice(1 - MAX_NAME_CHARS)}`;

/** Whether a place is the one of that name, or lies in it. */
export const isWithin = (place: string, name: string): boolean => `${place}>`.startsWith(`${name}>`);

/** The deepest container of at least two places; `null`: no two share one. */
function deepestShared(places: readonly string[]): string | null {
  const sorted = places.map((place) => `${place}>`).sort();
  let deepest = '';
  let depth = 0;
  for (let i = 1; i < sorted.length; i++) {
    // Places with a common beginning are adjacent.
    const [one, other] = [sorted[i - 1]!, sorted[i]!];
    let end = 0;
    let parts = 0;
    for (let at = 0; at < one.length && one[at] === other[at]; at++) {
      if (one[at] !== '>') continue;
      end = at;
      parts++;
    }
    if (parts > depth) [deepest, depth] = [one.slice(0, end), parts];
  }
  return depth === 0 ? null : deepest;
}

/** First byte of the form below. */
const FORM = 1;
const PRINT_BYTES = PRINT_BITS / 8;
/** Numbers of element names in packed places. Append only. */
const NAMES =
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav noscript ol p pre section summary table tbody tfoot thead tr td th ul title text'.split(
    ' ',
  );
const NUMBERS = new Map(NAMES.map((name, i) => [name, i]));
/** In place of a number: the length of a part of the path and its UTF-16 units follow. */
const LITERAL = 0x7f;
/** The length of a run of one name follows. */
const RUN = 0x80;
/** Largest count in half a byte; as the number of added parts it means that the count follows. */
const MOST = 15;

/**
 * Packs places into few bytes, as base64, so that a record carries them without parsing them: for each place the number
 * of leading elements shared with the previous place, the remaining elements, and its print. About six bytes per place.
 */
export function packPlaces({ prints, others }: RememberedPlaces): string {
  const bytes: number[] = [FORM];
  addNumber(bytes, others);
  let before: readonly string[] = [];
  for (const [place, print] of [...prints].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const parts = place.split('>');
    let shared = 0;
    while (shared < MOST && shared < parts.length - 1 && parts[shared] === before[shared]) shared++;
    const added = parts.slice(shared);
    bytes.push((shared << 4) | Math.min(MOST, added.length));
    if (added.length >= MOST) bytes.push(added.length);
    for (const part of added) addPart(bytes, part);
    addNumber(bytes, print);
    before = parts;
  }
  return btoa(String.fromCharCode(...bytes));
}

/** `null` for data written by a newer version. */
export function unpackPlaces(packed: string): RememberedPlaces | null {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  if (bytes[0] !== FORM) return null;
  let at = 1;
  const byte = (): number => bytes[at++] ?? 0;
  const number = (): number => {
    let value = 0;
    for (let i = 0; i < PRINT_BYTES; i++) value = value * 256 + byte();
    return value;
  };
  const part = (): string => {
    const first = byte();
    if (first === LITERAL) {
      return Array.from({ length: byte() }, () => String.fromCharCode(256 * byte() + byte())).join('');
    }
    const name = NAMES[first & ~RUN] ?? '';
    return (first & RUN) === 0 ? name : `${name}*${byte()}`;
  };
  const others = number();
  const prints = new Map<string, number>();
  let before: string[] = [];
  while (at < bytes.length) {
    const counts = byte();
    const added = (counts & MOST) === MOST ? byte() : counts & MOST;
    before = before.slice(0, counts >> 4);
    for (let i = 0; i < added; i++) before.push(part());
    prints.set(before.join('>'), number());
  }
  return { prints, others };
}

function addNumber(bytes: number[], value: number): void {
  for (let shift = PRINT_BITS - 8; shift >= 0; shift -= 8) bytes.push((value >>> shift) & 0xff);
}

function addPart(bytes: number[], part: string): void {
  const [, name = '', run = '1'] = /^([a-z0-9]+)(?:\*([2-9]|[1-9]\d+))?$/.exec(part) ?? [];
  const number = NUMBERS.get(name);
  const times = Number(run);
  if (number === undefined || times > 255) {
    bytes.push(LITERAL, part.length);
    for (let i = 0; i < part.length; i++) bytes.push(part.charCodeAt(i) >> 8, part.charCodeAt(i) & 0xff);
  } else if (run === '1') bytes.push(number);
  else bytes.push(number | RUN, times);
}

/** The edits of a place whose words differ. */
interface PlaceEdits {
  readonly place: string;
  readonly edits: readonly WordEdit[];
}

export interface PlaceDiff extends WordDiff {
  /** Names of the places that differ, as the change feed has them. */
  readonly where: readonly string[];
  /** The places that differ, in the reading order of the later version; those that are gone stand last. */
  readonly places: readonly PlaceEdits[];
}

/**
 * The difference of two versions of a page, computed for each place separately. It has an edit exactly where {@link
 * changedPlaces} has a place. `edits` are those of all places, in reading order.
 */
export function placeDiff(before: ReadPage, after: ReadPage): PlaceDiff {
  const [old, young] = [placedTexts(before), placedTexts(after)];
  const [oldTexts, youngTexts] = [textsByPlace(old), textsByPlace(young)];
  const diffs = new Map<string, WordDiff>();
  for (const place of new Set([...youngTexts.keys(), ...oldTexts.keys()])) {
    diffs.set(place, textDiff(oldTexts.get(place) ?? '', youngTexts.get(place) ?? ''));
  }
  const changed = changedPlaces(rememberPlaces(printsOf(before)), printsOf(after));
  const all = [...diffs.values()];
  return {
    where: namedPlaces(changed),
    places: [...diffs].filter(([, { edits }]) => edits.some(isChange)).map(([place, { edits }]) => ({ place, edits })),
    edits: inReadingOrder(young, diffs),
    equal: all.reduce((sum, { equal }) => sum + equal, 0),
    deleted: all.reduce((sum, { deleted }) => sum + deleted, 0),
    inserted: all.reduce((sum, { inserted }) => sum + inserted, 0),
  };
}

const printsOf = (page: ReadPage): PlacePrint[] => placePrints(page, new BlockTable().fill(page.blocks));

/** By words; where no word differs, by what stands between white space: `foo (x)` is not `foo(x)`. */
function textDiff(before: string, after: string): WordDiff {
  const byWords = wordDiff(before, after);
  return byWords.edits.some(isChange) ? byWords : spacingDiff(before, after);
}

const isChange = ({ op }: WordEdit): boolean => op !== 'equal';

function textsByPlace(texts: readonly PlacedText[]): Map<string, string> {
  const joined = new Map<string, string>();
  for (const { place, text } of texts) {
    const before = joined.get(place);
    joined.set(place, before === undefined ? text : `${before}\n${text}`);
  }
  return joined;
}

/** The edits of the places, cut at the ends of their texts; places that are gone stand last. */
function inReadingOrder(texts: readonly PlacedText[], diffs: ReadonlyMap<string, WordDiff>): WordEdit[] {
  const edits: WordEdit[] = [];
  const add = (edit: WordEdit): void => {
    const last = edits.at(-1);
    if (last?.op === edit.op) edits[edits.length - 1] = { op: edit.op, text: last.text + edit.text };
    else if (edit.text !== '') edits.push(edit);
  };
  const left = new Map<string, number>();
  for (const { place } of texts) left.set(place, (left.get(place) ?? 0) + 1);
  const rest = new Map([...diffs].map(([place, diff]) => [place, [...diff.edits].reverse()]));
  for (const [i, { place, text }] of texts.entries()) {
    if (i > 0) add({ op: 'equal', text: '\n' });
    const isLast = left.get(place) === 1;
    left.set(place, left.get(place)! - 1);
    takeText(rest.get(place)!, isLast ? Number.POSITIVE_INFINITY : text.length, add);
    // The line feed to the next text of the place.
    if (!isLast) takeText(rest.get(place)!, 1, (edit) => edit.op === 'delete' && add(edit));
  }
  for (const [place, { edits: gone }] of diffs) {
    if (left.has(place)) continue;
    for (const { op, text } of gone) add({ op, text: `\n${text}` });
  }
  return edits;
}

/** Takes edits off the end of `rest` until they hold `chars` characters of the later text. */
function takeText(rest: WordEdit[], chars: number, add: (edit: WordEdit) => void): void {
  let open = chars;
  for (let edit = rest.pop(); edit !== undefined; edit = rest.pop()) {
    const { op, text } = edit;
    if (op === 'delete') {
      add(edit);
      continue;
    }
    if (text.length > open) rest.push({ op, text: text.slice(open) });
    add({ op, text: text.slice(0, open) });
    open -= text.length;
    if (open <= 0) return;
  }
}
