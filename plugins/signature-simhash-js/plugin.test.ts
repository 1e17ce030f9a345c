import { createShingler, createWordScanner } from 'incrawl/bundled';
import { hammingDistance, type Signature } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';
import { createSimhashJsSigner } from './simhash-js-signer.ts';

const sign = createSimhashJsSigner();
const signText = (text: string): string => sign([{ text, weight: 1 }])!;

it('keeps the contract of signatures', async () => {
  const { id } = await testPlugin(plugin);
  expect(id).toMatch(/^simhash-js64-w3-d3\.2\.1\.1-v2-icu\d+$/);
});

describe('the adapter', () => {
  it.each([
    ['one shingle', 'we love our'],
    ['one word', 'word'],
    ['many', 'we love our great country'],
  ])('gives a number for %s', (_title, text) => {
    expect(signText(text)).toMatch(/^[0-9a-f]{16}$/);
    expect(signText(text)).not.toBe('0000000000000000');
  });

  it('nothing without words', () => {
    expect(sign([])).toBeNull();
    expect(sign([{ text: ' -- ', weight: 1 }])).toBeNull();
  });

  it('the order of shingles does not count, as it does not overlap them', () => {
    // Two texts with the same set of shingles, in another order.
    const [a, b] = ['a b c d a b c', 'd a b c d a b'];
    const shinglesOf = (text: string): number[] => {
      const { low, count } = createShingler().shingle(createWordScanner().scan(text), 1);
      return [...low.subarray(0, count)].sort((x, y) => x - y);
    };
    expect(shinglesOf(a!)).toEqual(shinglesOf(b!));
    expect(signText(a!)).toBe(signText(b!));
  });

  it('a heavier dimension decides more', () => {
    const title = { text: 'we love our great country', weight: 50 };
    const alone = sign([title])!;
    const text = { text: 'quite another text of words about nothing in particular', weight: 1 };
    expect(hammingDistance(sign([title, text])!, alone)).toBeLessThan(
      hammingDistance(sign([{ ...title, weight: 1 }, text])!, alone),
    );
  });
});

/** Texts with nothing in common. */
const wordsOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${name}${(at * 7919) % 1009}`);

it('one inserted word is near, unrelated texts differ in about half of the bits', () => {
  let near = 0;
  let far = 0;
  const pairs = 20;
  for (let pair = 0; pair < pairs; pair++) {
    const list = wordsOf(`w${pair}x`, 150);
    near += hammingDistance(signText(list.join(' ')), signText(list.toSpliced(7 * pair, 0, 'inserted').join(' ')));
    far += hammingDistance(signText(list.join(' ')), signText(wordsOf(`z${pair}y`, 150).join(' ')));
  }
  expect(near / pairs).toBeLessThan(6);
  expect(far / pairs).toBeGreaterThan(27);
  expect(far / pairs).toBeLessThan(37);
});

it('signs pages', () => {
  const page = samplePage('');
  page.result.title = 'Title';
  page.result.text = 'we love our great country';
  const extension = plugin.setup(testHost, {}) as Signature;
  expect(extension.sign(page)).toMatch(/^[0-9a-f]{16}$/);
});
