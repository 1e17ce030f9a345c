import { createSimhash, hammingDistance, type Page, type Signature } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin, { signatureId } from './plugin.ts';

function signature(options: Readonly<Record<string, unknown>> = {}): Signature {
  return plugin.setup(testHost, plugin.options!.parse(options)) as Signature;
}

function page(found: Partial<Page['result']>): Page {
  const sample = samplePage('');
  Object.assign(sample.result, found);
  return sample;
}

it('keeps the contract of signatures', async () => {
  await testPlugin(plugin);
});

it('signs title, keywords and text with weights 3, 2, 1', () => {
  const found = {
    title: 'A title of words',
    keywords: ['some', 'key words'],
    text: 'and a text that is somewhat longer',
  };
  const expected = createSimhash()([
    { text: found.title, weight: 3 },
    { text: 'some key words', weight: 2 },
    { text: found.text, weight: 1 },
  ]);
  expect(signature().sign(page(found))).toBe(expected);
});

it('prefers the main content to the whole text', () => {
  const mainText = 'we love our great country';
  expect(signature().sign(page({ text: 'menu menu menu footer', mainText }))).toBe('fd851af90bc24962');
  expect(signature().sign(page({ text: mainText }))).toBe('fd851af90bc24962');
});

it('leaves out what weighs nothing', () => {
  const options = { titleWeight: 0, keywordsWeight: 0 };
  const found = { title: 'changing', keywords: ['changing'], text: 'we love our great country' };
  expect(signature(options).sign(page(found))).toBe('fd851af90bc24962');
  expect(plugin.options!.safeParse({ ...options, textWeight: 0 }).success).toBe(false);
});

it('a page without words has none', () => {
  expect(signature().sign(page({ title: '...', text: '\u2014' }))).toBeNull();
});

describe('the id says what decides the bits', () => {
  const weights = { title: 3, keywords: 2, text: 1, topic: 1 };

  it.each<[string, string]>([
    [signatureId(weights, null, '76.1'), 'simhash64-w3-d3.2.1.1-v2-icu76'],
    [signatureId(weights, 4, '76.1'), 'simhash64-w3-d3.2.1.1-tf4-v2-icu76'],
    [signatureId({ ...weights, title: 0 }, null, undefined), 'simhash64-w3-d0.2.1.1-v2-icu0'],
  ])('%s', (id, expected) => {
    expect(id).toBe(expected);
  });

  it('other options, other bits', () => {
    const found = page({ text: 'the rose is the rose that is the rose and the thorn is the thorn of the rose' });
    expect(signature().sign(found)).not.toBe(signature({ tfCap: 1 }).sign(found));
    expect(signature().id).not.toBe(signature({ tfCap: 1 }).id);
  });
});

it('an edited sentence is near, another page far', () => {
  const sentences = Array.from(
    { length: 60 },
    (_, at) => `Sentence ${at} tells of item ${at * 7919} and of place ${at * 104_729}.`,
  );
  const sign = (list: readonly string[]): string =>
    String(signature().sign(page({ title: 'Items', text: list.join('\n') })));
  const other = sentences.map((_, at) => `Quite unlike row${at * 31} it holds value${at * 17} beside name${at * 13}.`);
  const edited = sentences.with(30, 'This one was written anew.');
  expect(hammingDistance(sign(sentences), sign(sentences))).toBe(0);
  expect(hammingDistance(sign(sentences), sign(edited))).toBeLessThan(8);
  expect(hammingDistance(sign(sentences), sign(other))).toBeGreaterThan(16);
});
