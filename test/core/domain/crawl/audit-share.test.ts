import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seeded } from '../../../../bench/harness/seeded.ts';
import { type AuditRecord, auditShareOf, NO_AUDITS } from '../../../../src/core/domain/crawl/headers/ladder.ts';
import { createAuditChoice } from '../../../../src/core/steps/generate/hazard-round.ts';

const MOST = 0.1;
const clean = (audits: number): AuditRecord => ({ audits, lies: 0 });
const share = (own: AuditRecord, others = NO_AUDITS): number => auditShareOf(MOST, own, others);

describe('share of audits', () => {
  it('is the largest without a record, falls with each clean audit, and never to nothing', () => {
    expect(share(NO_AUDITS)).toBe(MOST);
    const shares = [0, 1, 2, 5, 9].map((audits) => share(clean(audits)));
    for (const [i, each] of shares.entries()) if (i > 0) expect(each).toBeLessThan(shares[i - 1]!);
    expect(share(clean(1e9), clean(1e9))).toBeCloseTo(MOST / 50, 12);
  });

  it('is back at the largest after a lie, until the record is clean for long', () => {
    expect(share({ audits: 15, lies: 1 })).toBe(MOST);
    expect(share({ audits: 200, lies: 1 })).toBeGreaterThan(5 * share(clean(200)) - 1e-9);
    expect(share({ audits: 200, lies: 2 })).toBeGreaterThan(share({ audits: 200, lies: 1 }));
  });

  it('is lower for a new host where others are honest, and not for other hosts that lie', () => {
    expect(share(NO_AUDITS, clean(100))).toBeLessThan(MOST / 10);
    expect(share(NO_AUDITS, { audits: 100, lies: 100 })).toBe(MOST);
  });

  it('keeps to its bounds, and 0 and 1 hold whatever the record', () => {
    const record = fc
      .tuple(fc.nat(1_000), fc.nat(1_000))
      .map(([honest, lies]): AuditRecord => ({ audits: honest + lies, lies }));
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), record, record, (most, own, others) => {
        const found = auditShareOf(most, own, others);
        expect(found).toBeLessThanOrEqual(most);
        expect(found).toBeGreaterThanOrEqual(most / 50);
        expect(auditShareOf(0, own, others)).toBe(0);
        expect(auditShareOf(1, own, others)).toBe(1);
      }),
    );
  });
});

describe('audits of a second crawl', () => {
  const audits = (hosts: number, pages: number, seed: number): number => {
    const choice = createAuditChoice(MOST, {}, seeded(seed));
    return Array.from({ length: pages }, (_, i) => choice.next(`h${i % hosts}.example`)).filter(Boolean).length;
  };

  it.each([
    [1, 5_000],
    [5, 5_000],
    [50, 5_000],
    [5, 50_000],
  ])('of %d hosts and %d pages, 5 %% of which have changed, move at most a tenth of the bytes more', (hosts, pages) => {
    for (let seed = 1; seed <= 20; seed++) {
      const made = audits(hosts, pages, seed);
      expect(made).toBeGreaterThan(0);
      // Those of changed pages cost nothing: their bodies are transferred anyway.
      expect(0.95 * made).toBeLessThanOrEqual(0.1 * 0.05 * pages);
    }
  });
});

describe('a host that lies', () => {
  /** Visits to a host of so many pages until an audit meets a change that its headers hide. */
  function visitsUntilFound(pages: number, record: AuditRecord, changing: number, seed: number): number {
    const random = seeded(seed);
    let own = record;
    for (let visits = 0; ; ) {
      const choice = createAuditChoice(MOST, { h: own, others: clean(500) }, random);
      let made = 0;
      for (let page = 0; page < pages; page++) {
        visits++;
        if (!choice.next('h')) continue;
        made++;
        if (random() < changing) return visits;
      }
      own = { audits: own.audits + made, lies: own.lies };
    }
  }

  it.each([
    ['that is new, and changes one page in twenty', NO_AUDITS, 0.05, 10_000],
    ['after a thousand clean audits, and changes one page in twenty', clean(1_000), 0.05, 10_000],
    ['after a thousand clean audits, and changes every page', clean(1_000), 1, 500],
    ['that has lied before', { audits: 15, lies: 1 }, 0.05, 500],
  ])('%s, is found within bounded visits', (_, record, changing, mean) => {
    const found = Array.from({ length: 200 }, (_, seed) => visitsUntilFound(1_000, record, changing, seed + 1));
    // The time to a hit at a constant rate: its mean, and five times that in less than one of a hundred cases.
    expect(found.reduce((sum, visits) => sum + visits, 0) / found.length).toBeLessThan(1.2 * mean);
    expect(found.filter((visits) => visits > 5 * mean).length).toBeLessThanOrEqual(4);
  });
});
