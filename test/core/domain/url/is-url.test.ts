import { expect, it } from 'vitest';
import { isUrl } from '../../../../src/core/domain/url/canonical/canonical-url.ts';

it('accepts hosts with non-ASCII letters, however often it is called', () => {
  for (let i = 0; i < 20_000; i++)
    if (!isUrl(`http://bücher${i % 7}.example/ä`)) throw new Error(`denied at call ${i}`);
  expect(isUrl('http://b%C3%BCcher.example/')).toBe(true);
});

it.each([
  ['https://example.org/a', undefined, true],
  ['/a', undefined, false],
  ['/a', 'https://example.org/', true],
  ['http://', undefined, false],
  ['', undefined, false],
  ['not a url', undefined, false],
])('%j against %j: %s', (text, base, expected) => {
  expect(isUrl(text, base)).toBe(expected);
});
