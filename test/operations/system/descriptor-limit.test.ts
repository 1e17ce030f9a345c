import { expect, it } from 'vitest';
import { descriptorLimit, descriptorsIn } from '../../../src/operations/system/descriptor-limit.ts';

it.each([
  ['Limit                     Soft Limit           Hard Limit\nMax open files            200      4096   files\n', 200],
  ['Max processes  7 7 processes\nMax open files            unlimited            unlimited            files\n', null],
  ['1024\n', 1024],
  ['unlimited\n', null],
  ['', null],
])('%j: %s', (text, expected) => {
  expect(descriptorsIn(text)).toBe(expected);
});

it.skipIf(process.platform !== 'linux')('is known on Linux', () => {
  expect(descriptorLimit()).toSatisfy((limit) => limit === null || limit > 0);
});
