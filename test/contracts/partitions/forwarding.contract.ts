import { describe, expect, it } from 'vitest';
import {
  type ForwardedLink,
  type InboxRow,
  PARCEL_SIZE,
} from '../../../src/core/domain/crawl/discovery/forwarded-link.ts';
import { A, B, C, type CrawlDbExam, D, listOf } from '../crawl-db-exam.ts';

export const linkTo = (url: string, change: Partial<ForwardedLink> = {}): ForwardedLink => {
  const link = { url, from: 'https://from.example/ü', depth: 3, at: 1_700_000_000_000.5, score: 0.25, plainScore: 2.5 };
  return { ...link, noise: 'outlinks: noise (menu)', redirects: 0, layers: null, ...change };
};

/** Outbox, inbox and links that wait. */
export function forwardingContract(exam: CrawlDbExam): void {
  const forward = (...to: readonly (readonly [number, string])[]): Promise<void> =>
    exam.db.write({ forwarding: { forward: to.map(([partition, url]) => ({ to: partition, link: linkTo(url) })) } });
  const put = (...inbox: InboxRow[]): Promise<void> => exam.db.write({ forwarding: { restore: { inbox } } });

  describe('the outbox', () => {
    it('numbers links as they come, and gives those of each partition in their order', async () => {
      await forward([3, A], [200, B]);
      await forward([3, C], [20, D]);
      const rows = await listOf(exam.db.forwarding.outbox({ limit: 100 }));
      expect(rows.map(({ to, number, links }) => [to, number, links.map(({ url }) => url)])).toEqual([
        [3, 1, [A]],
        [3, 3, [C]],
        [20, 4, [D]],
        [200, 2, [B]],
      ]);
      expect(rows[0]?.links).toEqual([linkTo(A)]);
      expect(await listOf(exam.db.forwarding.outbox({ to: 3, limit: 1 }))).toEqual([
        { to: 3, number: 1, links: [linkTo(A)] },
      ]);
      expect(await listOf(exam.db.forwarding.outbox({ to: 20, limit: 9 }))).toEqual([
        { to: 20, number: 4, links: [linkTo(D)] },
      ]);
      expect(await listOf(exam.db.forwarding.outbox({ to: 2, limit: 9 }))).toEqual([]);
    });

    it('has the links of a batch to one partition in a parcel, up to its size', async () => {
      const many = Array.from({ length: PARCEL_SIZE + 1 }, (_, i) => `https://many.example/${i}`);
      await forward([3, A], [9, C], [3, B], ...many.map((url): [number, string] => [12, url]));
      const rows = await listOf(exam.db.forwarding.outbox());
      expect(rows.map(({ to, number, links }) => [to, number, links.map(({ url }) => url)])).toEqual([
        [3, 1, [A, B]],
        [9, 2, [C]],
        [12, 3, many.slice(0, PARCEL_SIZE)],
        [12, 4, many.slice(PARCEL_SIZE)],
      ]);
    });

    it('never gives a number twice, also when it is empty', async () => {
      await forward([1, A]);
      await forward([1, B]);
      await exam.db.write({
        forwarding: {
          handedOver: [
            { to: 1, number: 1 },
            { to: 1, number: 2 },
          ],
        },
      });
      expect(await listOf(exam.db.forwarding.outbox({ limit: 9 }))).toEqual([]);
      await forward([1, C]);
      expect(await listOf(exam.db.forwarding.outbox({ limit: 9 }))).toMatchObject([{ number: 3, links: [{ url: C }] }]);
      expect((await exam.db.forwarding.marks()).lastSent).toBe(3);
    });

    it('removes only rows that it is told of', async () => {
      for (const each of [
        [1, A],
        [2, B],
        [1, C],
      ] as const)
        await forward(each);
      await exam.db.write({
        forwarding: {
          handedOver: [
            { to: 1, number: 1 },
            { to: 1, number: 2 },
          ],
        },
      });
      expect((await listOf(exam.db.forwarding.outbox({ limit: 9 }))).map(({ links }) => links[0]?.url)).toEqual([C, B]);
    });

    it('sorts by number beyond digits', async () => {
      await exam.db.write({ forwarding: { restore: { marks: { lastSent: 254, received: [] } } } });
      for (const url of [A, B, C]) await forward([7, url]);
      expect((await listOf(exam.db.forwarding.outbox({ to: 7, limit: 9 }))).map(({ number }) => number)).toEqual([
        255, 256, 257,
      ]);
    });
  });

  describe('the inbox', () => {
    it('gives rows by sender and number, whatever order they came in', async () => {
      const seeds = { from: 'seeds-1', number: 0, item: { seeds: [`${D}\tscore=3`, A] } };
      await put({ from: '010', number: 300, item: { links: [linkTo(C)] } }, seeds);
      await put(
        { from: '010', number: 29, item: { links: [linkTo(B)] } },
        { from: '002', number: 500, item: { seedHosts: ['a', 'b'] } },
      );
      expect(await listOf(exam.db.forwarding.inbox(100))).toEqual([
        { from: '002', number: 500, item: { seedHosts: ['a', 'b'] }, isKnown: false },
        { from: '010', number: 29, item: { links: [linkTo(B)] }, isKnown: false },
        { from: '010', number: 300, item: { links: [linkTo(C)] }, isKnown: false },
        { ...seeds, isKnown: false },
      ]);
      expect(await listOf(exam.db.forwarding.inbox(1))).toHaveLength(1);
    });

    it('knows rows of a partition that come again after they were applied', async () => {
      const rows = [4, 9].map((number) => ({ from: '010', number, item: { links: [linkTo(A)] } }));
      await put(...rows);
      await exam.db.write({ forwarding: { received: [{ from: '010', number: 4 }] } });
      expect((await listOf(exam.db.forwarding.inbox(9))).map(({ number }) => number)).toEqual([9]);
      await put(rows[0] as InboxRow, { from: '011', number: 1, item: { links: [linkTo(A)] } });
      expect(
        (await listOf(exam.db.forwarding.inbox(9))).map(({ from, number, isKnown }) => [from, number, isKnown]),
      ).toEqual([
        ['010', 4, true],
        ['010', 9, false],
        ['011', 1, false],
      ]);
      await exam.db.write({
        forwarding: {
          received: [
            { from: '010', number: 9 },
            { from: '010', number: 4 },
          ],
        },
      });
      expect((await exam.db.forwarding.marks()).received).toEqual([{ from: '010', through: 9 }]);
    });

    it('keeps no numbers of other senders', async () => {
      await put({ from: 'seeds-1', number: 1, item: { seeds: [A] } });
      await exam.db.write({ forwarding: { received: [{ from: 'seeds-1', number: 1 }] } });
      expect(await listOf(exam.db.forwarding.inbox(9))).toEqual([]);
      expect(await exam.db.forwarding.marks()).toEqual({ lastSent: 0, received: [] });
    });
  });

  it('keeps forwarded links that wait, one for each URL, by host', async () => {
    await exam.db.write({ forwarding: { wait: [linkTo(B), linkTo(C), linkTo(A), linkTo(A, { depth: 1 })] } });
    expect(await exam.db.forwarding.waiting([C, D, A])).toEqual([linkTo(C), undefined, linkTo(A, { depth: 1 })]);
    expect((await listOf(exam.db.forwarding.scanWaiting())).map(({ url }) => url)).toEqual([A, B, C]);
    expect((await listOf(exam.db.forwarding.scanWaiting('a.example'))).map(({ url }) => url)).toEqual([A, B]);
    await exam.db.write({ forwarding: { waited: [A, D] } });
    expect((await listOf(exam.db.forwarding.scanWaiting())).map(({ url }) => url)).toEqual([B, C]);
  });
}
