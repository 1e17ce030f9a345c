import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BudgetBook, FORGET_MS, settleBudget } from '../../../../src/core/domain/crawl/revisit/budget-shares.ts';
import { DAY_MS, MINUTE_MS } from '../../../../src/core/domain/time.ts';

const NONE = new Set<number>();
const START = 20_000 * DAY_MS;

/** Partitions of a crawl that ask for fetches and use them. */
class Crawl {
  book: BudgetBook | null = null;
  now = START;
  readonly spent: number[];
  readonly tokens: number[];
  readonly perDay: number;

  constructor(partitions: number, perDay: number) {
    this.spent = new Array(partitions).fill(0);
    this.tokens = new Array(partitions).fill(1);
    this.perDay = perDay;
  }

  /** Fetches that the partition may make after it has asked; `null`: it has another holder. */
  claim(
    partition: number,
    due: number,
    more: {
      early?: number;
      most?: number;
      price?: number | null;
      token?: number;
      idle?: ReadonlySet<number>;
      awaited?: ReadonlySet<number>;
    } = {},
  ) {
    const {
      early = 0,
      most = 5_000,
      price = null,
      token = this.tokens[partition] as number,
      idle = NONE,
      awaited = NONE,
    } = more;
    const spent = this.spent[partition] as number;
    const after = settleBudget(
      this.book,
      { partition, spent, due, early, most, price, token },
      { perDay: this.perDay, partitions: this.spent.length, now: this.now, seen: { idle, awaited } },
    );
    if (after === null) return null;
    // As it is stored.
    this.book = JSON.parse(JSON.stringify(after.book)) as BudgetBook;
    return { ...after, free: after.granted - spent };
  }

  use(partition: number, fetches: number): void {
    this.spent[partition] = (this.spent[partition] as number) + fetches;
  }

  /** Time in which partitions that do not ask are forgotten. */
  passWhile(ask: () => unknown): void {
    for (let i = 0; i < 3; i++) {
      ask();
      this.now += FORGET_MS / 2;
    }
  }

  get total(): number {
    return this.spent.reduce((sum, each) => sum + each, 0);
  }
}

describe('the budget of a crawl in partitions', () => {
  it('is kept in equal parts for partitions that have not asked yet, as long as they may have something to fetch', () => {
    const crawl = new Crawl(4, 1_000);
    expect(crawl.claim(0, 5_000)).toMatchObject({ free: 250, isHeldBack: true, share: 0.25 });
    expect(crawl.claim(1, 10)).toMatchObject({ free: 10, isHeldBack: false });
    expect(crawl.claim(2, 5_000, { idle: new Set([0, 1, 3]) })).toMatchObject({ free: 740, isHeldBack: false });
    // It had nothing to fetch, and has been sent something since.
    const sent = new Crawl(2, 100);
    for (const partition of [0, 1]) sent.claim(partition, 0);
    expect(sent.claim(0, 500, { awaited: new Set([1]) })?.free).toBe(50);
    const other = new Crawl(4, 1_000);
    other.passWhile(() => other.claim(1, 0));
    expect(other.claim(1, 5_000)?.free).toBe(1_000);
    // None has asked for so long that all may have something to fetch again.
    const quiet = new Crawl(4, 1_000);
    quiet.claim(0, 0);
    quiet.now += FORGET_MS + 1;
    expect(quiet.claim(1, 5_000)?.free).toBe(250);
  });

  it('pages come early by fetches that no due URL needs', () => {
    const crawl = new Crawl(2, 100);
    crawl.claim(1, 40);
    expect(crawl.claim(0, 10, { early: 500 })).toMatchObject({ free: 10 + 25 });
    const waiting = new Crawl(2, 100);
    waiting.claim(1, 400);
    expect(waiting.claim(0, 10, { early: 500 })?.free).toBe(10);
  });

  it('what a holder has not used when it dies is its successor’s to ask for, and that of a partition without holder is shared', () => {
    const crawl = new Crawl(2, 100);
    expect(crawl.claim(0, 100)?.free).toBe(50);
    crawl.use(0, 20);
    // The next holder finds in the crawl db of the partition what was spent.
    crawl.tokens[0] = 2;
    expect(crawl.claim(0, 0)?.free).toBe(0);
    expect(crawl.claim(0, 100, { token: 1 })).toBe(null);
    expect(crawl.claim(1, 100)?.free).toBe(80);
    const dead = new Crawl(2, 100);
    dead.claim(0, 0);
    // Its part is kept for it, and then given to the others.
    dead.claim(0, 100);
    dead.passWhile(() => dead.claim(1, 0));
    const saved = dead.claim(1, 1_000)?.free ?? 0;
    expect(saved).toBe(50);
    dead.use(1, saved);
    dead.tokens[0] = 2;
    expect(dead.claim(0, 0)?.free).toBe(0);
    expect(dead.claim(1, 1_000)?.free).toBe(50);
  });

  it('partitions are forgotten, and the crawl begins anew, after ten minutes and not at them', () => {
    const crawl = new Crawl(4, 1_000);
    crawl.claim(0, 0);
    crawl.now += FORGET_MS;
    // Kept for the two that have not asked; the first wants nothing.
    expect(crawl.claim(1, 5_000)?.free).toBe(500);
  });

  it('what a partition has spent before it first asks costs nothing, what it spends beyond its grant is charged', () => {
    const crawl = new Crawl(2, 100);
    crawl.claim(0, 0);
    crawl.use(1, 30);
    expect(crawl.claim(1, 100)).toMatchObject({ free: 100, granted: 130 });
    const over = new Crawl(2, 100);
    expect(over.claim(1, 100)?.free).toBe(50);
    over.use(1, 60);
    expect(over.claim(1, 1_000, { idle: new Set([0]) })?.free).toBe(40);
    expect(over.book?.account).toMatchObject({ saved: 0, spent: 100, spentToday: 100 });
    // The part that was kept for the other is gone as well.
    const far = new Crawl(2, 100);
    far.claim(1, 100);
    expect(far.book?.partitions[0]?.kept).toBeCloseTo(50, 6);
    far.use(1, 90);
    far.claim(1, 0);
    expect(far.book?.partitions[0]?.kept).toBeCloseTo(10, 6);
  });

  it('what is taken back belongs to the day on which it was granted', () => {
    const crawl = new Crawl(2, 100);
    const alone = { idle: new Set([0, 1]) };
    crawl.now += DAY_MS / 2;
    expect(crawl.claim(0, 50, alone)?.free).toBe(50);
    crawl.use(0, 20);
    crawl.claim(0, 0, alone);
    expect(crawl.book?.account).toMatchObject({ saved: 80, spentToday: 20, spent: 50 });
    expect(crawl.claim(0, 50, alone)?.free).toBe(50);
    crawl.now += DAY_MS / 2;
    expect(crawl.claim(1, 60, alone)?.free).toBe(60);
    crawl.use(1, 60);
    crawl.claim(0, 0, alone);
    expect(crawl.book?.account).toMatchObject({ saved: 70, spentToday: 60, spent: 160 });
    expect(crawl.claim(1, 1_000, alone)?.free).toBe(40);
  });

  it('a claim is granted no more than it can use, and held back while a whole fetch is kept for another', () => {
    const crawl = new Crawl(1, 100);
    expect(crawl.claim(0, 10, { early: 500, most: 12 })?.free).toBe(12);
    const two = new Crawl(2, 2);
    expect(two.claim(0, 5)).toMatchObject({ free: 1, isHeldBack: true });
    const one = new Crawl(2, 1);
    expect(one.claim(0, 5)).toMatchObject({ free: 0, isHeldBack: false });
  });

  it('weights move by the prices of the last day, with the visits of a day, and within bounds', () => {
    const crawl = new Crawl(3, 1_000);
    const weightOf = (partition: number): number => crawl.book?.partitions[partition]?.weight ?? Number.NaN;
    const all = (prices: readonly (number | null)[]): void => {
      for (const [partition, price] of prices.entries()) crawl.claim(partition, 100, { price });
    };
    all([1, 4, null]);
    expect([weightOf(0), weightOf(1), weightOf(2)]).toEqual([1, 1, 1]);
    // 50 visits: 0.15 of the third of a day's 1,000 that is its own.
    crawl.use(0, 50);
    crawl.claim(0, 100, { price: 9 });
    expect(weightOf(0)).toBeCloseTo((9 / 6.5) ** (0.5 * 0.15), 9);
    // Of more than a day no more than a day counts, and prices of the day before do not.
    const before = weightOf(0);
    crawl.now += DAY_MS;
    crawl.use(0, 5_000);
    crawl.claim(0, 100, { price: 1 });
    expect(weightOf(0)).toBe(before);
    crawl.claim(1, 100, { price: 4 });
    crawl.use(0, 5_000);
    crawl.claim(0, 100, { price: 1 });
    expect(weightOf(0)).toBeCloseTo(before * (1 / 2.5) ** 0.5, 9);
    const weights = [];
    for (const price of [1e9, 1e-9]) {
      for (let i = 0; i < 20; i++) {
        crawl.use(0, 1_000_000);
        crawl.claim(0, 100, { price });
      }
      weights.push(weightOf(0));
    }
    expect(weights).toEqual([10, 0.1]);
  });

  it('the part that is kept for a partition to which URLs were sent is by its weight', () => {
    const crawl = new Crawl(2, 100);
    crawl.claim(0, 0);
    crawl.claim(1, 0);
    const { partitions, ...rest } = crawl.book as BudgetBook;
    crawl.book = { ...rest, partitions: { ...partitions, 1: { ...partitions[1]!, weight: 3 } } };
    expect(crawl.claim(0, 500, { awaited: new Set([1]) })).toMatchObject({ free: 25, share: 0.25 });
  });

  it('is never exceeded, whoever asks, dies, or comes late: neither on a day nor as it is earned', () => {
    const step = fc.record({
      partition: fc.nat(4),
      due: fc.oneof(fc.nat(3), fc.nat(200)),
      early: fc.nat(50),
      price: fc.option(fc.double({ min: 1e-6, max: 1e3, noNaN: true })),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
      minutes: fc.oneof(fc.constant(0), fc.nat(30), fc.nat(2_000)),
      isTakenOver: fc.boolean(),
      idle: fc.uniqueArray(fc.nat(4)),
      awaited: fc.uniqueArray(fc.nat(4)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 300 }), (steps, perDay) => {
        const crawl = new Crawl(5, perDay);
        const days = new Map<number, number>();
        for (const { partition, due, early, price, used, minutes, isTakenOver, idle, awaited } of steps) {
          crawl.now += minutes * MINUTE_MS;
          if (isTakenOver) crawl.tokens[partition] = (crawl.tokens[partition] as number) + 1;
          const seen = { idle: new Set(idle), awaited: new Set(awaited) };
          const settlement = crawl.claim(partition, due, { early, price, ...seen });
          if (settlement === null) throw new Error('the claim of a holder was refused');
          const { free, share } = settlement;
          expect(free).toBeGreaterThanOrEqual(0);
          expect(free).toBeLessThanOrEqual(due + early);
          expect(share).toBeGreaterThan(0);
          expect(share).toBeLessThanOrEqual(1);
          const fetches = Math.floor(free * used);
          crawl.use(partition, fetches);
          const day = Math.floor(crawl.now / DAY_MS);
          days.set(day, (days.get(day) ?? 0) + fetches);
          const earned = perDay + ((crawl.now - START) * perDay) / DAY_MS;
          expect(crawl.total).toBeLessThanOrEqual(earned + 1e-3);
          expect(days.get(day)).toBeLessThanOrEqual(perDay);
          const kept = Object.values(crawl.book?.partitions ?? {}).reduce((sum, each) => sum + each.kept, 0);
          expect(kept).toBeLessThanOrEqual((crawl.book?.account.saved ?? 0) + 1e-3);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('nothing is left while a partition has URLs due', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(400), { minLength: 3, maxLength: 3 }),
        fc.integer({ min: 3, max: 500 }),
        (wants, perDay) => {
          const crawl = new Crawl(3, perDay);
          const left = [...wants];
          for (let round = 0; round < 40; round++) {
            for (const [partition, due] of left.entries()) {
              const free = crawl.claim(partition, due)?.free ?? 0;
              crawl.use(partition, free);
              left[partition] = due - free;
            }
          }
          const all = wants.reduce((sum, each) => sum + each, 0);
          // Of each partition less than one fetch is kept.
          expect(crawl.total).toBeGreaterThanOrEqual(Math.min(all, perDay) - 3);
          expect(crawl.total).toBeLessThanOrEqual(Math.min(all, perDay));
        },
      ),
    );
  });

  it.each([[[1, 4]], [[1, 1, 1, 1]], [[0.5, 1, 2, 4, 8, 1, 1, 1]]])(
    'moves to where visits win more, until all win the same (wins %j)',
    (wins) => {
      const perDay = 24_000;
      const crawl = new Crawl(wins.length, perDay);
      // Of the last whole day: wins of visits fall as more are made, and are known after a while.
      let visits = wins.map(() => perDay / wins.length);
      let made = wins.map(() => 0);
      for (let day = 0; day < 20; day++) {
        made = wins.map(() => 0);
        for (let claims = 0; claims < 24; claims++) {
          crawl.now = START + day * DAY_MS + claims * 5 * MINUTE_MS;
          for (const [partition, win] of wins.entries()) {
            const free = crawl.claim(partition, perDay, { price: win / (visits[partition] as number) })?.free ?? 0;
            crawl.use(partition, free);
            made[partition] = (made[partition] as number) + free;
          }
        }
        visits = made.map((each, i) => Math.max(1, (each + (visits[i] as number)) / 2));
      }
      const sum = made.reduce((total, each) => total + each, 0);
      const ofWins = wins.reduce((total, each) => total + each, 0);
      expect(sum).toBeGreaterThan(0.98 * perDay);
      for (const [partition, win] of wins.entries()) {
        const share = (made[partition] as number) / sum;
        expect(share / (win / ofWins), `partition ${partition}`).toBeGreaterThan(0.85);
        expect(share / (win / ofWins), `partition ${partition}`).toBeLessThan(1.15);
      }
    },
  );
});
