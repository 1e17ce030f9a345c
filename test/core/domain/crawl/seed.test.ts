import { describe, expect, it } from 'vitest';
import { parseSeedLine, reinject, type Seed } from '../../../../src/core/domain/crawl/discovery/seed.ts';
import { newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';

describe('one line of a seed file', () => {
  it.each(['', '   ', '# a comment', '\t# also one', '\uFEFF'])('%j names no URL', (line) => {
    expect(parseSeedLine(line)).toBeNull();
  });

  it("reads Nutch's metadata, tab-separated, under both names", () => {
    const expected = {
      url: 'http://a.example/',
      score: 2.5,
      intervalMs: 86_400_000,
      fixedIntervalMs: 3_600_000,
      layers: 3,
      metadata: { topic: 'news', lang: 'de=at' },
    };
    expect(
      parseSeedLine(
        'http://a.example/\tscore=2.5\tinterval=86400\tfixedInterval=3600\tdepth=3\ttopic=news\tlang=de=at',
      ),
    ).toEqual(expected);
    expect(
      parseSeedLine(
        'http://a.example/\tnutch.score=2.5\tnutch.fetchInterval=86400\tnutch.fetchInterval.fixed=3600\tdepth=3\ttopic=news\tlang=de=at\r',
      ),
    ).toEqual(expected);
  });

  it.each([
    '\u0000http://a.example/\u001f\tscore=2',
    '\u0001 ht\ttp\t://a.example/\tscore=2\u0002',
    'HT\rTP://a.example/\tscore=2',
  ])('%j is read without its control characters', (line) => {
    const seed = parseSeedLine(line) as Seed;
    expect([seed.url.toLowerCase(), seed.score]).toEqual(['http://a.example/', 2]);
  });

  it.each([
    ['http://a.example/ score=1', 'tab'],
    ['http://a.example/\tscore=high', 'number'],
    ['http://a.example/\tscore=-1', 'number'],
    ['http://a.example/\tinterval=', 'seconds'],
    ['http://a.example/\tfixedInterval=0', 'seconds'],
    ['http://a.example/\tinterval=1e12', 'seconds'],
    ['http://a.example/\tdepth=0', 'whole number'],
    ['http://a.example/\tnonsense', 'key=value'],
    ['http://a.example/\t=x', 'key=value'],
    ['http://a.example/\t__proto__=x', 'metadata key'],
  ])('%j is an error that states the expected form', (line, word) => {
    expect(parseSeedLine(line)).toMatchObject({ error: expect.stringContaining(word) });
  });
});

describe('a seed that is known already', () => {
  const seed: Seed = {
    url: 'http://a.example/',
    score: 3,
    intervalMs: 1_000,
    fixedIntervalMs: null,
    layers: null,
    metadata: { b: '2' },
  };
  const known = {
    ...newDatum({ url: seed.url, now: 5, intervalMs: 9_000, score: 1, metadata: { a: '1' } }),
    state: 'fetched' as const,
    lastFetchAt: 100,
    nextFetchAt: 9_100,
  };
  const fresh = newDatum({ url: seed.url, now: 50, intervalMs: 1_000, score: 3, seed: true, metadata: { b: '2' } });

  it('keep leaves it as it is, but for being a seed from now on', () => {
    expect(reinject(known, seed, 'keep', fresh)).toEqual({ ...known, seed: true, depth: 0 });
    const already = { ...known, seed: true };
    expect(reinject(already, seed, 'keep', fresh)).toBe(already);
  });

  it.each(['keep', 'update'] as const)('%s brings an orphan back: it is a seed, and due at once', (mode) => {
    const orphan = { ...known, state: 'orphan' as const, digest: 'd', target: 'http://b.example/', nextFetchAt: null };
    const due = { state: 'fetched', seed: true, depth: 0, target: null, nextFetchAt: 50 };
    expect(reinject(orphan, { ...seed, intervalMs: null }, mode, fresh)).toMatchObject(due);
    expect(reinject({ ...orphan, seed: true }, { ...seed, intervalMs: null }, mode, fresh)).toMatchObject(due);
    expect(reinject({ ...orphan, digest: null }, seed, mode, fresh).state).toBe('unfetched');
  });

  it('update takes the settings of the seed and keeps the rest', () => {
    expect(reinject(known, seed, 'update', fresh)).toMatchObject({
      state: 'fetched',
      score: 3,
      schedule: { intervalMs: 1_000 },
      nextFetchAt: 1_100,
      metadata: { a: '1', b: '2' },
    });
  });

  it('overwrite starts afresh', () => {
    expect(reinject(known, seed, 'overwrite', fresh)).toEqual({ ...fresh, discoveredAt: 5 });
  });
});
