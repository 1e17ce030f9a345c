import { beforeEach, describe, expect, it } from 'vitest';
import { NO_HOST_FACTS, type ScanQuery } from '../../src/core/ports/crawl-db.ts';
import { A, B, C, type CrawlDbExam, D, listOf, MISSING, visitedDatum } from './crawl-db-exam.ts';

/** Scans, counters, hosts, links, segments and facts. */
export function queriesContract(exam: CrawlDbExam): void {
  describe('a scan', () => {
    const URLS = [
      'https://example.com/',
      'https://example.com:8443/',
      'http://example.com/a',
      'https://www.example.com/docs',
      'https://www.example.com/docs/a',
      'https://example.community/',
      'https://example-two.com/',
      'http://127.0.0.1:8080/docs/a',
    ];

    beforeEach(async () => {
      await exam.insert(...URLS.map((url, i) => visitedDatum(url, { state: i % 2 === 0 ? 'fetched' : 'gone' })));
    });

    it('keeps the hosts of a domain and the URLs of a host together', async () => {
      const urls = await exam.scanUrls();
      expect([...urls].sort()).toEqual([...URLS].sort());
      const domains = urls.map((url) => new URL(url).hostname.split('.').slice(-2).join('.'));
      expect(domains.filter((domain, i) => domain !== domains[i - 1])).toHaveLength(new Set(domains).size);
    });

    it.each<[ScanQuery, string[]]>([
      [{ host: 'example.com' }, [URLS[2]!, URLS[0]!]],
      [{ host: 'example.com:8443' }, [URLS[1]!]],
      [{ host: '127.0.0.1:8080' }, [URLS[7]!]],
      [{ host: 'nowhere.example' }, []],
      [{ domain: 'example.com' }, [URLS[1]!, URLS[2]!, URLS[0]!, URLS[3]!, URLS[4]!]],
      [{ domain: '127.0.0.1' }, [URLS[7]!]],
      [{ prefix: 'https://www.example.com/docs/' }, [URLS[4]!]],
      [{ prefix: 'https://www.example.com' }, [URLS[3]!, URLS[4]!]],
      [{ domain: 'example.com', state: 'gone' }, [URLS[1]!, URLS[3]!]],
      [{ domain: 'example.com', state: 'gone', limit: 1 }, [URLS[1]!]],
      [{ domain: 'example.com', limit: 2 }, [URLS[1]!, URLS[2]!]],
      [{ host: 'example.com', prefix: 'https://example.com/' }, [URLS[0]!]],
      [{ host: 'example.com', domain: 'example.community' }, []],
      [{ limit: 0 }, []],
    ])('of %j', async (query, expected) => {
      expect(await exam.scanUrls(query)).toEqual(expected);
    });

    it('may be left early', async () => {
      for await (const _ of exam.db.scan()) break;
      for await (const _ of exam.db.due({ until: Number.POSITIVE_INFINITY })) break;
      for await (const _ of exam.db.hosts()) break;
      await expect(
        (async () => {
          for await (const _ of exam.db.scan()) throw new Error('enough');
        })(),
      ).rejects.toThrow('enough');
      await exam.insert(visitedDatum(A));
      expect(await exam.db.hasMany([A])).toEqual([true]);
    });
  });

  describe('counters and hosts', () => {
    it('follow every change', async () => {
      await exam.insert(visitedDatum(A), visitedDatum(B, { state: 'gone' }), visitedDatum(C), visitedDatum(D));
      expect(await exam.db.counters()).toEqual({ urls: 4, byState: { fetched: 3, gone: 1 }, hosts: 3, leased: 0 });
      const previous = await exam.lookedUp(A);
      await exam.db.write({
        puts: [{ datum: { ...previous, state: 'notmodified' }, previous }],
        deletes: await exam.present([D]),
      });
      expect(await exam.db.counters()).toEqual({
        urls: 3,
        byState: { fetched: 1, gone: 1, notmodified: 1 },
        hosts: 2,
        leased: 0,
      });
      expect(await exam.db.hostRows(['a.example', 'nowhere.example', 'c.example', 'd.example:8080'])).toEqual([
        { host: 'a.example', urls: 2, byState: { gone: 1, notmodified: 1 }, facts: NO_HOST_FACTS },
        undefined,
        { host: 'c.example', urls: 1, byState: { fetched: 1 }, facts: NO_HOST_FACTS },
        undefined,
      ]);
    });

    it('keep facts about a host, with URLs or without', async () => {
      const facts = { ...NO_HOST_FACTS, audits: 5, lies: 1, distrustedUntil: 1.7e12, bytesSaved: 2 ** 40 };
      await exam.db.write({ hostFacts: [{ host: 'a.example', facts }] });
      expect((await exam.db.counters()).hosts).toBe(0);
      await exam.insert(visitedDatum(A));
      const row = { host: 'a.example', urls: 1, byState: { fetched: 1 }, facts };
      expect(await exam.db.hostRows(['a.example'])).toEqual([row]);
      const latency = { first: 30, counts: [2, 0, 7] };
      const rendering = [{ pattern: '/items/*', renders: 3, gains: 2, misses: 1, at: 1.7e12 }];
      const traffic = {
        visits: 9,
        dnsFailures: 1,
        connectionFailures: 2,
        timeouts: 3,
        receivedBytes: 2 ** 40,
        latency,
      };
      const level = { changes: 1.25, watchedMs: 9e9, observedMs: 3e9, at: 1.7e12 };
      const clock = {
        level,
        groups: [{ number: 31, level: { ...level, at: null }, pages: 7, lookedAt: 1.7e12 }],
        epochs: [
          { from: 1.6e12, to: 1.65e12, found: [{ group: 31, observed: 0.5, expected: 0.25, visits: 3 }] },
          { from: 1.65e12, to: 1.7e12, found: [] },
        ],
      };
      const newer = { ...facts, distrustedUntil: null, restUntil: 1.8e12, traffic, rendering, clock };
      await exam.db.write({ hostFacts: [{ host: 'a.example', facts: newer }], deletes: await exam.present([A]) });
      expect(await listOf(exam.db.hosts())).toEqual([{ host: 'a.example', urls: 0, byState: {}, facts: newer }]);
      const nothing = { at: 1.7e12, signature: null, signatureName: null, textChars: 0 };
      await exam.db.write({ hostFacts: [{ host: 'a.example', facts: { ...newer, nothing } }] });
      expect(await exam.db.hostRows(['a.example'])).toMatchObject([{ facts: { ...newer, nothing } }]);
    });

    it('list hosts in key order, by prefix and limit', async () => {
      const hosts = ['www.example.com', 'example.com', 'a.example', 'a.example:8080', '127.0.0.1:99', 'www.a.example'];
      await exam.insert(...hosts.map((host) => visitedDatum(`https://${host}/`)));
      const list = async (query?: { prefix?: string; limit?: number }): Promise<string[]> =>
        (await listOf(exam.db.hosts(query))).map(({ host }) => host);
      expect(await list()).toEqual([
        '127.0.0.1:99',
        'example.com',
        'www.example.com',
        'a.example:8080',
        'a.example',
        'www.a.example',
      ]);
      expect(await list({ prefix: 'www.' })).toEqual(['www.example.com', 'www.a.example']);
      expect(await list({ prefix: 'www.', limit: 1 })).toEqual(['www.example.com']);
      expect(await list({ limit: 2 })).toEqual(['127.0.0.1:99', 'example.com']);
    });
  });

  describe('the rest', () => {
    it('stores outlinks per page', async () => {
      const targets = [B, `${A}?x`, 'https://a.example.org/', 'http://a.example/', 'https://a.example:81/', A];
      await exam.db.write({
        links: [
          { url: C, targets: [A] },
          { url: A, targets },
        ],
      });
      expect(await exam.db.linksOf([MISSING, A])).toEqual([[], targets]);
      expect(await listOf(exam.db.scanLinks())).toEqual([
        { url: A, targets },
        { url: C, targets: [A] },
      ]);
      await exam.db.write({ links: [{ url: A, targets: [] }] });
      expect(await exam.db.linksOf([A])).toEqual([[]]);
      expect(await listOf(exam.db.scanLinks())).toHaveLength(1);
    });

    it('keeps segment rows, oldest first', async () => {
      const row = (id: string, createdAt: number, applied = 0) =>
        ({ id, state: 'generated', createdAt, urls: 3, applied }) as const;
      await exam.db.write({ segments: [row('b', 2), row('c', 1), row('a', 2)] });
      expect(await exam.db.segments()).toEqual([row('c', 1), row('a', 2), row('b', 2)]);
      await exam.db.write({ segments: [{ ...row('a', 2, 3), state: 'updated' }], removeSegments: ['c', 'x'] });
      expect(await exam.db.segments()).toEqual([{ ...row('a', 2, 3), state: 'updated' }, row('b', 2)]);
    });

    it('keeps small facts', async () => {
      await exam.db.write({ meta: { 'sweep.at': '12', text: 'größer 🕸' } });
      await exam.db.write({ meta: { 'sweep.at': '13' } });
      expect(await exam.db.meta('sweep.at')).toBe('13');
      expect(await exam.db.meta('text')).toBe('größer 🕸');
      expect(await exam.db.meta('other')).toBeUndefined();
      await exam.db.write({ meta: { other: 'x'.repeat(100_000), text: '' } });
      expect(await exam.db.meta('other')).toHaveLength(100_000);
      expect(await exam.db.meta('text')).toBe('');
      await exam.db.write({ meta: { other: 'short again' } });
      expect(await exam.db.meta('other')).toBe('short again');
      expect(await exam.db.metas()).toEqual({ 'sweep.at': '13', text: '', other: 'short again' });
    });
  });
}
