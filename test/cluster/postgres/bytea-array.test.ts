import { expect, it } from 'vitest';
import { byteaArray } from '../../../src/cluster/postgres/bytea-array.ts';

const hex = (...values: (string | Buffer)[]): string => byteaArray(values).toString('hex');
/** Dimensions, nulls, type `bytea`, length, lower bound. */
const head = (length: string): string => `0000000100000000000000110000000${length}00000001`;

it('an array of bytes is in the binary format of PostgreSQL, texts as UTF-8', () => {
  expect(hex()).toBe(head('0'));
  expect(hex('aé', Buffer.from([0, 255]), '')).toBe(`${head('3')}0000000361c3a90000000200ff00000000`);
});
