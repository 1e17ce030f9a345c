import { describe, expect, it } from 'vitest';
import { CRAWL_STATES, type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { A, B, C, type CrawlDbExam, contentOf, listOf, MISSING, visitedDatum } from './crawl-db-exam.ts';

/** Records, and the atomicity of a batch. */
export function writingContract(exam: CrawlDbExam): void {
  describe('records', () => {
    it('come back as they were written', async () => {
      const data = [newDatum({ url: A, now: 5, intervalMs: 7 }), visitedDatum(B), visitedDatum(C, { state: 'gone' })];
      await exam.insert(...data);
      expect(await exam.db.get(B)).toEqual(data[1]);
      expect(await exam.db.getMany([C, MISSING, A, B, A])).toEqual([data[2], undefined, data[0], data[1], data[0]]);
      expect(await exam.db.hasMany([C, MISSING, A, A])).toEqual([true, false, true, true]);
      expect(await exam.db.get(MISSING)).toBeUndefined();
      expect(await exam.db.getMany([])).toEqual([]);
      expect(await exam.db.hasMany([])).toEqual([]);
    });

    it.each(CRAWL_STATES)('can be %s', async (state) => {
      await exam.insert(visitedDatum(A, { state }));
      expect((await exam.lookedUp(A)).state).toBe(state);
      expect((await exam.db.counters()).byState).toEqual({ [state]: 1 });
    });

    it('are read by the thousand in the order asked', async () => {
      const urls = Array.from({ length: 2_500 }, (_, i) => `https://h${i % 7}.example/${(i * 7_919) % 2_500}`);
      await exam.insert(...urls.map((url, i) => newDatum({ url, now: i, intervalMs: 1 })));
      const found = await exam.db.getMany(urls);
      expect(found.map((datum) => datum?.url)).toEqual(urls);
      expect(found.map((datum) => datum?.discoveredAt)).toEqual(urls.map((_, i) => i));
    });

    it('leave nothing behind when they are deleted', async () => {
      await exam.insert(visitedDatum(A), visitedDatum(B));
      await exam.db.write({ links: [{ url: A, targets: [B] }] });
      await exam.lease('s1', A);
      await exam.db.write({ deletes: [await exam.lookedUp(A), await exam.lookedUp(B)] });
      expect(await exam.db.hasMany([A, B])).toEqual([false, false]);
      expect(await exam.due()).toEqual([]);
      expect(await exam.db.linksOf([A])).toEqual([[]]);
      expect(await listOf(exam.db.scanLeases())).toEqual([]);
      expect(await listOf(exam.db.hosts())).toEqual([]);
      expect(await exam.db.counters()).toEqual({ urls: 0, byState: {}, hosts: 0, leased: 0 });
    });

    it('are deleted once, however often a batch names them', async () => {
      await exam.insert(visitedDatum(A), visitedDatum(B));
      const datum = await exam.lookedUp(A);
      await exam.db.write({ deletes: [datum, datum] });
      await exam.db.write({ deletes: [datum] });
      expect(await exam.db.counters()).toEqual({ urls: 1, byState: { fetched: 1 }, hosts: 1, leased: 0 });
    });
  });

  describe('link families', () => {
    const family = (leader: string, isNoise = true) => ({ leader, size: 7, isNoise, similarityToNoise: 0.875 });
    const ofA = { domain: 'a.example', appliedAt: 5, families: [family('/ad?id=1'), family('/é漢', false)] };
    const tags = { ...family('/tag/1'), visited: { template: '127.0.0.1:8080/tag/*', visits: 6 } };
    const ofPort = { domain: '127.0.0.1:8080', appliedAt: 6, families: [tags] };

    it('are kept by domain, in key order, whatever records there are', async () => {
      await exam.db.write({ linkFamilies: [ofPort, ofA] });
      expect(await exam.db.linkFamilies(['a.example', 'b.example', '127.0.0.1:8080'])).toEqual([
        ofA,
        undefined,
        ofPort,
      ]);
      const before = (await listOf(exam.db.scanLinkFamilies())).map(({ domain }) => domain);
      expect(new Set(before)).toEqual(new Set(['a.example', '127.0.0.1:8080']));
      await exam.insert(visitedDatum(A));
      await exam.db.write({ deletes: [await exam.lookedUp(A)] });
      expect((await listOf(exam.db.scanLinkFamilies())).map(({ domain }) => domain)).toEqual(before);
    });

    it('replace those of their domain, and none removes them', async () => {
      await exam.db.write({ linkFamilies: [ofA, ofPort] });
      const later = { ...ofA, appliedAt: 9, families: [family('/login?next=')] };
      await exam.db.write({ linkFamilies: [later, { ...ofPort, families: [] }] });
      expect(await listOf(exam.db.scanLinkFamilies())).toEqual([later]);
      await exam.db.write({ linkFamilies: [{ ...ofPort, families: [] }] });
      expect(await exam.db.linkFamilies(['127.0.0.1:8080'])).toEqual([undefined]);
    });
  });

  describe('counts of like URLs', () => {
    /** A print, then the sketch of a text. */
    const SKETCHED = `1111111111111111${'00002a'}${'0123456789abcdef'.repeat(4)}`;
    const counts = { entered: 7, visits: 3, worthwhile: 1.5, lastAt: 1_700_000_000_123, trialsLeft: 2 };
    const ofHost = (host: string) => ({
      host,
      part: 0,
      urls: 7,
      unfetched: 4,
      sample: { url: `https://${host}/é/1`, families: [`${host}|é`, host] },
      families: [{ name: `${host}|é`, ...counts }],
      prints: [{ family: host, prints: ['00000000ffffffff', '0123456789abcdef'] }],
      waiting: [
        { family: { name: host, quota: 100 }, pages: [`https://${host}/list`] },
        { family: null, pages: [] },
      ],
      emptied: [],
      isCut: true,
    });
    const bare = { ...ofHost('b.example'), families: [], prints: [], waiting: [], isCut: false };

    it('are kept by host as they were written, and replaced', async () => {
      await exam.db.write({ hostShares: [ofHost('a.example'), ofHost('b.example'), ofHost('127.0.0.1:8080')] });
      await exam.db.write({ hostShares: [bare] });
      expect(await exam.db.hostShares(['b.example', 'none.example', '127.0.0.1:8080', 'a.example'])).toEqual([
        bare,
        undefined,
        ofHost('127.0.0.1:8080'),
        ofHost('a.example'),
      ]);
    });

    it('are joined with what is added, until they are replaced', async () => {
      const [a, b] = ['a.example', 'a.example:8080'];
      await exam.db.write({ hostShares: [ofHost(a), ofHost(b)] });
      const [family] = ofHost(a).families;
      const changed = { ...family!, entered: 9 };
      const more = { ...family!, name: 'more' };
      await exam.db.write({
        hostShares: [
          {
            ...bare,
            host: a,
            part: 1,
            urls: 9,
            families: [more, changed],
            prints: [{ family: a, prints: [SKETCHED] }],
            emptied: [''],
            waiting: [{ family: { name: a, quota: 100 }, pages: [`https://${a}/2`] }],
          },
        ],
      });
      await exam.db.write({ hostShares: [{ ...bare, host: a, part: 2, urls: 10, emptied: ['more'] }] });
      const joined = {
        ...bare,
        host: a,
        part: 2,
        urls: 10,
        sample: ofHost(a).sample,
        families: [changed, more],
        prints: [{ family: a, prints: ['00000000ffffffff', '0123456789abcdef', SKETCHED] }],
        waiting: [{ family: { name: a, quota: 100 }, pages: [`https://${a}/list`, `https://${a}/2`] }],
      };
      expect(await exam.db.hostShares([a, b])).toEqual([joined, ofHost(b)]);
      await exam.db.write({ hostShares: [{ ...bare, host: a }] });
      expect(await exam.db.hostShares([a, b])).toEqual([{ ...bare, host: a }, ofHost(b)]);
    });

    it('leave with the last record of their host, not before', async () => {
      const [one, two] = ['https://a.example/1', 'https://a.example/2'];
      await exam.insert(visitedDatum(one), visitedDatum(two));
      await exam.db.write({ hostShares: [ofHost('a.example'), bare] });
      await exam.db.write({ deletes: [await exam.lookedUp(one)] });
      expect(await exam.db.hostShares(['a.example'])).toEqual([ofHost('a.example')]);
      await exam.db.write({ deletes: [await exam.lookedUp(two)] });
      expect(await exam.db.hostShares(['a.example', 'b.example'])).toEqual([undefined, bare]);
    });
  });

  describe('a batch', () => {
    it('is applied as a whole or not at all', async () => {
      await exam.insert(visitedDatum(A));
      const broken = { ...visitedDatum(B), url: 'no url' };
      const before = await exam.lookedUp(A);
      const batch = {
        puts: [
          { datum: { ...before, state: 'gone' as const }, previous: before },
          { datum: broken, previous: null },
        ],
        meta: { mark: 'x' },
      };
      await expect(exam.db.write(batch)).rejects.toThrow(TypeError);
      expect(await exam.db.get(A)).toEqual(before);
      expect(await exam.db.meta('mark')).toBeUndefined();
      expect(await exam.db.counters()).toEqual({ urls: 1, byState: { fetched: 1 }, hosts: 1, leased: 0 });
      await exam.insert(visitedDatum(B));
      expect(await exam.dueUrls()).toEqual([A, B]);
    });

    it('takes effect in the order of the calls', async () => {
      await exam.insert(visitedDatum(A, { score: 0 }));
      let previous = await exam.lookedUp(A);
      const writes: Promise<void>[] = [];
      for (let score = 1; score <= 50; score++) {
        const datum = { ...previous, score, nextFetchAt: 1_000 - score };
        writes.push(
          exam.db.write({ puts: [{ datum, previous }], meta: { last: String(score) } }, { durable: score === 50 }),
        );
        previous = datum;
      }
      await Promise.all(writes);
      expect(await exam.db.get(A)).toEqual(previous);
      expect(await exam.db.meta('last')).toBe('50');
      expect((await exam.due()).map(({ dueAt, score }) => [dueAt, score])).toEqual([[950, 50]]);
    });

    it('counts a URL once that it names twice', async () => {
      const datum = visitedDatum(A);
      const later: CrawlDatum = { ...datum, state: 'gone', nextFetchAt: 77 };
      await exam.db.write({
        puts: [
          { datum, previous: null },
          { datum: later, previous: null },
        ],
      });
      expect(await exam.db.get(A)).toEqual(later);
      expect(await exam.db.counters()).toEqual({ urls: 1, byState: { gone: 1 }, hosts: 1, leased: 0 });
      expect((await exam.due()).map(({ dueAt }) => dueAt)).toEqual([77]);
    });

    it('may be empty', async () => {
      await exam.db.write({});
      await exam.db.write({ puts: [], deletes: [], links: [] }, { durable: true });
      expect((await exam.db.counters()).urls).toBe(0);
    });

    it('that is not of an import is refused until the import is at its end', async () => {
      await exam.db.write({ links: [{ url: A, targets: [B] }], isImporting: true });
      await expect(exam.db.write({ meta: { other: 'fact' } })).rejects.toMatchObject({ code: 'usage-invalid' });
      await exam.db.write({ meta: { own: 'fact' }, isImporting: false }, { durable: true });
      await exam.db.write({ meta: { later: 'fact' } });
      expect(await exam.db.metas()).toEqual({ own: 'fact', later: 'fact' });
    });

    it('applied again, with the records as they are now, changes nothing', async () => {
      await exam.insert(visitedDatum(A), visitedDatum(B));
      await exam.lease('s1', A);
      const datum: CrawlDatum = { ...visitedDatum(A), state: 'gone', nextFetchAt: 500 };
      const row = { id: 's1', state: 'generated' as const, createdAt: 1, urls: 1, applied: 1 };
      const apply = async (): Promise<void> =>
        exam.db.write({
          puts: [
            { datum, previous: await exam.lookedUp(A), leasedBy: 's1' },
            { datum: visitedDatum(C), previous: (await exam.db.get(C)) ?? null },
          ],
          links: [{ url: A, targets: [B, C] }],
          segments: [row],
        });
      await apply();
      const once = await contentOf(exam.db);
      await apply();
      expect(await contentOf(exam.db)).toEqual(once);
      expect(once.counters).toEqual({ urls: 3, byState: { gone: 1, fetched: 2 }, hosts: 2, leased: 0 });
    });
  });
}
