import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, type Caps, interleaveHosts, Selection } from '../../../src/core/steps/generate/fetch-list.ts';

function candidate(url: string, host: string, rank: number): Candidate {
  const entry = {
    url,
    dueAt: 0,
    state: 'unfetched' as const,
    score: rank,
    depth: 0,
    intervalMs: 1,
    lastFetchAt: null,
    failures: 0,
    isNew: true,
    isFixed: false,
    belief: null,
    weight: 1,
    unansweredAt: null,
  };
  return { entry, host, rank };
}

const domainOf = (host: string): string => host.split('.').at(-1) as string;

/** The obvious way: sort all, then take greedily. */
function byHand(all: readonly Candidate[], caps: Caps): string[] {
  const sorted = [...all].sort((a, b) => b.rank - a.rank || (a.entry.url < b.entry.url ? -1 : 1));
  const hosts = new Map<string, number>();
  const domains = new Map<string, number>();
  const chosen: string[] = [];
  for (const each of sorted) {
    const host = hosts.get(each.host) ?? 0;
    const domain = domains.get(domainOf(each.host)) ?? 0;
    if (host >= (caps.leftOf?.(each.host) ?? Number.POSITIVE_INFINITY)) continue;
    if (caps.maxPerHost > 0 && host >= caps.maxPerHost) continue;
    if (caps.maxPerDomain > 0 && domain >= caps.maxPerDomain) continue;
    if (chosen.length >= caps.topN) continue;
    hosts.set(each.host, host + 1);
    domains.set(domainOf(each.host), domain + 1);
    chosen.push(each.entry.url);
  }
  return chosen;
}

describe('selection under caps', () => {
  it('chooses from a stream what sorting all of it would choose, and counts every rejection', () => {
    const host = fc.constantFrom('a.x', 'b.x', 'c.y', 'd.y', 'e.z');
    const caps = fc.record({
      topN: fc.integer({ min: 0, max: 40 }),
      maxPerHost: fc.integer({ min: 0, max: 8 }),
      maxPerDomain: fc.integer({ min: 0, max: 12 }),
    });
    const days = fc.option(fc.dictionary(host, fc.integer({ min: 0, max: 8 })));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(host, fc.integer({ min: 0, max: 50 })), { minLength: 1_000, maxLength: 2_500 }),
        caps,
        days,
        (rows, ofRound, left) => {
          const leftOf = left === null ? undefined : (name: string) => left[name] ?? Number.POSITIVE_INFINITY;
          const limits = { ...ofRound, leftOf };
          const all = rows.map(([name, rank], i) => candidate(`http://${name}/${i}`, name, rank));
          const selection = new Selection(limits, { domainOf });
          for (const each of all) selection.add(each);
          const chosen = selection.finish().map((each) => each.entry.url);
          expect(chosen).toEqual(byHand(all, limits));
          const { hostDay, hostCap, domainCap, topN } = selection.rejected;
          if (left === null) expect(hostDay).toBe(0);
          expect(chosen.length + hostDay + hostCap + domainCap + topN).toBe(all.length);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('interleaving hosts', () => {
  it('takes one of each host in turn and keeps the order within a host', () => {
    const items = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'].map((name) => ({ name, host: name.slice(0, 1) }));
    expect(interleaveHosts(items).map((item) => item.name)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect(interleaveHosts([])).toEqual([]);
  });
});
