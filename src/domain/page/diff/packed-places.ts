import type { RememberedPlaces } from './changed-places.ts';
import { PRINT_BITS } from './text-print.ts';

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
/** Largest count in half a byte; of added parts it says that the count follows. */
const MOST = 15;

/**
 * Places in few bytes, as base64, so that a record carries them without reading them: for each place the number of
 * leading elements that it shares with the one before, the further ones, and its print. About six bytes a place.
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

/** `null` for what a newer version wrote. */
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
