import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dumpLines } from '../../src/care/transfer/db-transfer.ts';
import { importDivided } from '../../src/care/transfer/divided-lines.ts';
import { placing } from '../../src/cluster/partitions/partition-dir.ts';
import { passOn, senderKnowing } from '../../src/cluster/partitions/pass-on.ts';
import { SpreadCrawlDb } from '../../src/cluster/partitions/spread-db.ts';
import { serverIn, spreadMap, withoutSplitting, withSplit } from '../../src/cluster/servers/server-map.ts';
import type { InboxItem } from '../../src/core/domain/crawl/discovery/forwarded-link.ts';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../src/core/domain/url/canonical/url-key.ts';
import { bitsOf, partitionAmong, partitionIn } from '../../src/core/domain/url/hash/partition.ts';
import type { CrawlDb } from '../../src/core/ports/crawl-db.ts';
import { changeOf, listOf } from '../contracts/crawl-db-exam.ts';
import { linkTo } from '../contracts/partitions/forwarding.contract.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

const NOW = 1_800_000_000_000;
const HOSTS = Array.from({ length: 300 }, (_, i) => `h${i}.example`);

/** Splits of a crawl that begins with so many partitions. */
const shape = fc.tuple(fc.constantFrom(2, 4, 16), fc.array(fc.nat(), { maxLength: 12 })).map(([begun, picks]) => ({
  partitions: begun + picks.length,
  splits: picks.map((pick, i) => pick % (begun + i)),
}));

describe('the partitions of a crawl some of which were split', () => {
  it('have each host in one, which a further split changes for hosts of the split one alone', () => {
    fc.assert(
      fc.property(shape, fc.nat(), ({ partitions, splits }, pick) => {
        const of = pick % partitions;
        const beforehand = partitionIn({ partitions, splits });
        const afterwards = partitionIn({ partitions: partitions + 1, splits: [...splits, of] });
        for (const host of HOSTS) {
          expect(beforehand(host)).toBeLessThan(partitions);
          if (beforehand(host) !== of) expect(afterwards(host)).toBe(beforehand(host));
          else expect([of, partitions]).toContain(afterwards(host));
        }
      }),
    );
  });

  it('are those of the beginning where none was, and of twice as many where all were, under other numbers', () => {
    const all = partitionIn({ partitions: 8, splits: [0, 1, 2, 3] });
    for (const host of HOSTS) {
      expect(partitionIn({ partitions: 4, splits: [] })(host)).toBe(partitionAmong(host, 4));
      expect(all(host)).toBe(partitionAmong(host, 8));
    }
    expect(bitsOf({ partitions: 6, splits: [1, 4] })).toEqual([2, 3, 2, 2, 4, 4]);
  });

  it('get about half each', () => {
    const many = Array.from({ length: 4_000 }, (_, i) => `h${i}.example`);
    const place = partitionIn({ partitions: 4, splits: [0, 2] });
    const counts = [0, 1, 2, 3].map((partition) => many.filter((host) => place(host) === partition).length);
    for (const [i, part] of [1_000, 2_000, 500, 500].entries()) {
      expect(Math.abs((counts[i] ?? 0) - part)).toBeLessThan(part / 5);
    }
  });

  it('are in the map once a split is done, however often that is said, and beside the old one', () => {
    const splitting = { of: 1, into: 4, token: '7' };
    const map = { ...spreadMap(4, ['postgres://b.example/crawl']), splitting };
    const done = withSplit(map, splitting);
    expect([done.splits, done.splitting?.isDone]).toEqual([[1], true]);
    expect(serverIn(done, '004')).toBe(serverIn(map, '001'));
    expect(withSplit(done, splitting)).toBe(done);
    expect(withSplit(map, { ...splitting, token: '8' })).toBe(map);
    expect(withoutSplitting(done, { token: '8' })).toBe(done);
    expect(withoutSplitting(done, splitting).splitting).toBe(undefined);
  });
});

describe('seeds and orders of a process', () => {
  const splits = [1, 0, 1, 4];
  /** What a partition passes on of a row of a process that knew of so many splits. */
  async function passedOn(partition: number, from: string, item: InboxItem) {
    const sent: [number, string][] = [];
    const woken: number[] = [];
    const stores = {
      ...{ partitions: 4 + splits.length, splits, placeOf: placing('host', 8, splits) },
      inboxOf: (to: number) => ({
        append: async (sender: string) => void sent.push([to, sender]),
      }),
    };
    const onHandedOver = async (to: Iterable<number>) => void woken.push(...to);
    await passOn({ partition, stores, onHandedOver }, [{ from, number: 3, item, isKnown: false }]);
    expect(woken).toEqual(sent.map(([to]) => to));
    return sent;
  }

  it('that knew of all splits are not passed on, nor are links', async () => {
    const order = { order: { command: 'touch', args: [] } };
    expect(await passedOn(1, senderKnowing('orders', splits), order)).toEqual([]);
    expect(await passedOn(1, '000', { links: [linkTo('https://a.example/')] })).toEqual([]);
  });

  it('that knew of none reach each partition once, over those between', async () => {
    const seeds = { seeds: ['https://a.example/'] };
    const reached = new Map<number, number>([
      [0, 1],
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    const open: [number, string][] = [...reached.keys()].map((partition) => [partition, senderKnowing('seeds', [])]);
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      for (const [to, sender] of await passedOn(each[0], each[1], seeds)) {
        expect(sender).toMatch(/^[\w-]+$/);
        reached.set(to, (reached.get(to) ?? 0) + 1);
        open.push([to, sender]);
      }
    }
    expect([...reached].sort()).toEqual(Array.from({ length: 8 }, (_, partition) => [partition, 1]));
  });
});

describe('the rows of a partition', () => {
  const urls = HOSTS.slice(0, 40).flatMap((host) => [`https://${host}/`, `https://${host}/a`]);
  const place = placing('host', 2, [0]);
  const leaves = (host: string): boolean => place(host) === 1;

  async function divided(): Promise<{ readonly whole: CrawlDb; readonly halves: readonly [CrawlDb, CrawlDb] }> {
    const whole = createMemoryCrawlDb();
    const data = urls.map((url) => newDatum({ url, now: NOW, intervalMs: 1_000 }));
    await whole.write({ puts: data.map((datum) => ({ datum, previous: null })) });
    await whole.write({ links: urls.map((url, i) => ({ url, targets: [urls[(i + 1) % urls.length] as string] })) });
    await whole.write({ feed: { add: { notedAt: NOW, changes: urls.map((url) => changeOf(url)) } } });
    await whole.write({ feed: { trimThrough: 3 }, meta: { seedHosts: '["h0.example"]', spent: '5' } });
    await whole.write({ segments: [{ id: 'one', state: 'updated', createdAt: NOW, urls: 1, applied: 1 }] });
    await whole.write({ forwarding: { forward: [{ to: 3, link: linkTo('https://far.example/') }] } });
    const halves = [createMemoryCrawlDb(), createMemoryCrawlDb()] as const;
    const counts = await importDivided(dumpLines(whole, NOW), {
      ...{ dbs: halves, by: 'host', firstChange: (await whole.feedEnds()).first, leaves, facts: { splitInto: '9' } },
    });
    expect(counts[0].records + counts[1].records).toBe(urls.length);
    expect(counts[0].hosts + counts[1].hosts).toBe(40);
    return { whole, halves };
  }

  it('are divided by host, and each half is a crawl db of its own', async () => {
    const { whole, halves } = await divided();
    for (const [half, db] of halves.entries()) {
      const records = await listOf(db.scan());
      const own = urls.filter((url) => leaves(hostOf(url)) === (half === 1));
      expect(records.map(({ url }) => url).sort()).toEqual([...own].sort());
      expect((await listOf(db.due({ until: NOW + 1 }))).length).toBe(own.length);
      expect(await db.linksOf(own)).toEqual(await whole.linksOf(own));
      expect((await db.segments()).map(({ id }) => id)).toEqual(['one']);
      // A page that the other half links to is no orphan for want of links.
      for (const { url, metadata } of records) {
        const from = urls[(urls.indexOf(url) + urls.length - 1) % urls.length] as string;
        expect('linkedElsewhere' in metadata, url).toBe(leaves(hostOf(from)) !== (half === 1));
      }
    }
    expect((await listOf(halves[0].forwarding.outbox())).map(({ to }) => to)).toEqual([3]);
    expect(await listOf(halves[1].forwarding.outbox())).toEqual([]);
    expect([await halves[0].meta('splitInto'), await halves[1].meta('splitInto')]).toEqual(['9', undefined]);
    expect([await halves[0].meta('spent'), await halves[1].meta('spent')]).toEqual(['5', undefined]);
  });

  it('give each change once to a reader whose cursor is from before', async () => {
    const { whole, halves } = await divided();
    const spread = new SpreadCrawlDb(new Map(halves.entries()), 2, 'host', [0]);
    const { each = [] } = await spread.feedEnds();
    expect(each.map(({ first, last, from }) => [first, last, from])).toEqual([
      [4, urls.length, undefined],
      [4, urls.length, 0],
    ]);
    const read = await listOf(whole.changes({ through: 30 }));
    await halves[1].write({ feed: { add: { notedAt: NOW + 1, changes: [changeOf('https://new.example/')] } } });
    const rest = await listOf(spread.changes({ after: [30] }));
    const all = [...read, ...rest].map(({ url }) => url);
    expect(all).toHaveLength(urls.length - 3 + 1);
    expect(new Set(all).size).toBe(all.length);
  });
});
