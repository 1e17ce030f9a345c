import { createSimhash, hammingDistance, type Page, type Signature, type SignaturePair } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin, { signatureId } from './plugin.ts';

const DIGEST = expect.stringMatching(/^[0-9a-f]{8}$/);

function signature(options: Readonly<Record<string, unknown>> = {}): Signature {
  return plugin.setup(testHost, plugin.options!.parse(options)) as Signature;
}

function page(found: Partial<Page['result']>): Page {
  const sample = samplePage('');
  Object.assign(sample.result, found);
  return sample;
}

function signed(found: Partial<Page['result']>, options: Readonly<Record<string, unknown>> = {}): SignaturePair {
  return signature(options).sign(page(found)) as SignaturePair;
}

it('keeps the contract of signatures', async () => {
  await testPlugin(plugin);
});

it('signs title, keywords and text for change with weights 3, 2, 1, the text for likeness', () => {
  const found = {
    title: 'A title of words',
    keywords: ['some', 'key words'],
    text: 'and a text that is somewhat longer',
  };
  const text = { text: found.text, weight: 1 };
  const all = [{ text: found.title, weight: 3 }, { text: 'some key words', weight: 2 }, text];
  for (const tfCap of [0, 1, 3]) {
    const simhash = createSimhash({ tfCap });
    expect(signed(found, { tfCap })).toEqual({ likeness: simhash([text]), change: simhash(all), digest: DIGEST });
  }
});

it('prefers the main content to the whole text', () => {
  const mainText = 'we love our great country';
  const both = { likeness: 'fd851af90bc24962', change: 'fd851af90bc24962' };
  expect(signed({ text: 'menu menu menu footer', mainText })).toEqual({ ...both, digest: DIGEST });
  expect(signed({ text: mainText })).toEqual({ ...both, digest: DIGEST });
});

it('leaves out what weighs nothing', () => {
  const options = { titleWeight: 0, keywordsWeight: 0 };
  const found = { title: 'changing', keywords: ['changing'], text: 'we love our great country' };
  expect(signed(found, options).change).toBe('fd851af90bc24962');
  const title = signed(found, { textWeight: 0 });
  expect(title.likeness).toBe(title.change);
  expect(plugin.options!.safeParse({ ...options, textWeight: 0 }).success).toBe(false);
});

it('a page without words has none', () => {
  expect(signed({ title: '...', text: '\u2014' })).toEqual({ likeness: null, change: null, digest: null });
  expect(signed({ title: 'A title alone', text: '' })).toMatchObject({ likeness: null, change: expect.any(String) });
});

describe('the id says what decides the bits', () => {
  const weights = { title: 3, keywords: 2, text: 1, topic: 1 };
  const plain = { weights, tfCap: 0, shingleWords: 3, stopWords: null, segmenter: 'icu76' };

  it.each<[string, string]>([
    [signatureId(plain), 'simhash64x2-w3-d3.2.1.1-v3-icu76'],
    [signatureId({ ...plain, tfCap: null }), 'simhash64x2-w3-d3.2.1.1-tf-v3-icu76'],
    [signatureId({ ...plain, tfCap: 4 }), 'simhash64x2-w3-d3.2.1.1-tf4-v3-icu76'],
    [
      signatureId({ ...plain, weights: { ...weights, title: 0 }, segmenter: 'icu0' }),
      'simhash64x2-w3-d0.2.1.1-v3-icu0',
    ],
    [signatureId({ ...plain, shingleWords: 2 }), 'simhash64x2-w2-d3.2.1.1-v3-icu76'],
    [signatureId({ ...plain, stopWords: '1.1.0' }), 'simhash64x2-w3-d3.2.1.1-stop1.1.0-v3-icu76'],
  ])('%s', (id, expected) => {
    expect(id).toBe(expected);
  });

  it.each<[string, object]>([
    ['tfCap', { tfCap: null }],
    ['shingleWords', { shingleWords: 2 }],
    ['stopWords', { stopWords: true }],
  ])('other options, other bits, another id: %s', (_, options) => {
    const found = { lang: 'en', text: 'the rose is the rose that is the rose and the thorn is the thorn of the rose' };
    expect(signed(found)).not.toEqual(signed(found, { ...options }));
    expect(signature().id).not.toBe(signature({ ...options }).id);
  });

  it('the id of a plugin with all options', () => {
    const { id } = signature({ tfCap: 2, shingleWords: 1, stopWords: true });
    expect(id).toMatch(/^simhash64x2-w1-d3\.2\.1\.1-tf2-stop\d+\.\d+\.\d+-v3-icu\d+$/);
  });
});

describe('stop words', () => {
  const options = { stopWords: true };

  it.each<[string, string, string, string]>([
    ['English', 'en-GB', 'The price of the solar panels has fallen', 'price solar panels fallen'],
    ['Chinese', 'zh', '因为太阳能电池板的价格下降', '太阳能电池板价格下降'],
  ])('of a page in %s count for nothing', (_, lang, text, without) => {
    for (const shingleWords of [1, 3]) {
      const all = { ...options, shingleWords };
      expect(signed({ lang, title: text, text }, all)).toEqual(signed({ lang, title: without, text: without }, all));
    }
    expect(signed({ lang, text })).not.toEqual(signed({ lang, text: without }));
  });

  it('stay where the language is unknown or another', () => {
    const text = 'The price of the solar panels has fallen';
    for (const lang of [null, 'xx', 'fi']) {
      expect(signed({ lang, text }, options)).toEqual(signed({ lang, text }));
    }
  });

  it('a page of nothing else has no signature', () => {
    expect(signed({ lang: 'en', text: 'The who is and was of the' }, options)).toEqual({
      likeness: null,
      change: null,
      digest: null,
    });
  });
});

it.each([0, 9, 2.5, -1, 'x', null])('shingleWords: %j is refused', (shingleWords) => {
  expect(plugin.options!.safeParse({ shingleWords }).error?.issues[0]?.path).toEqual(['shingleWords']);
});

it('an edited sentence is near, another page far', () => {
  const sentences = Array.from(
    { length: 60 },
    (_, at) => `Sentence ${at} tells of item ${at * 7919} and of place ${at * 104_729}.`,
  );
  const other = sentences.map((_, at) => `Quite unlike row${at * 31} it holds value${at * 17} beside name${at * 13}.`);
  const edited = sentences.with(30, 'This one was written anew.');
  for (const kind of ['likeness', 'change'] as const) {
    const sign = (list: readonly string[]): string => signed({ title: 'Items', text: list.join('\n') })[kind]!;
    expect(hammingDistance(sign(sentences), sign(sentences))).toBe(0);
    expect(hammingDistance(sign(sentences), sign(edited))).toBeLessThan(8);
    expect(hammingDistance(sign(sentences), sign(other))).toBeGreaterThan(16);
  }
});
