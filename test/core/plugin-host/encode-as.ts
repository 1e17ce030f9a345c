import { TextDecoder } from '@exodus/bytes/encoding.js';

/** Bytes of a text in an encoding of one or two bytes a character: its decoder, turned around. */
export function encodeAs(charset: string, text: string): Uint8Array {
  const table = tableOf(charset);
  const bytes: number[] = [];
  for (const character of text) {
    const known = table.get(character);
    if (known === undefined) throw new TypeError(`${charset} has no ${character}`);
    bytes.push(...known);
  }
  return Uint8Array.from(bytes);
}

const tables = new Map<string, ReadonlyMap<string, readonly number[]>>();

function tableOf(charset: string): ReadonlyMap<string, readonly number[]> {
  const made = tables.get(charset);
  if (made !== undefined) return made;
  const decoder = new TextDecoder(charset);
  const table = new Map<string, readonly number[]>();
  const add = (...bytes: number[]): void => {
    const character = decoder.decode(Uint8Array.from(bytes));
    if ([...character].length === 1 && character !== '\ufffd' && !table.has(character)) table.set(character, bytes);
  };
  for (let byte = 0; byte < 256; byte++) add(byte);
  if (!charset.startsWith('windows') && !charset.startsWith('koi8')) {
    for (let lead = 0x81; lead < 0xff; lead++) for (let trail = 0x40; trail < 0xff; trail++) add(lead, trail);
  }
  tables.set(charset, table);
  return table;
}
