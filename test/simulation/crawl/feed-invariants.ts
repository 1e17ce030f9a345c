import { CRAWL_STATES } from '../../../src/core/domain/crawl/states/datum.ts';
import type { Checked } from './invariants.ts';
import type { AppliedSegment } from './ledger.ts';
import type { SimulatedProcess } from './process.ts';

/** Kinds of entries that a visit of the page itself gives. */
const BY_VISIT: ReadonlySet<string> = new Set(['new', 'modified', 'moved', 'gone']);

/**
 * The change feed: numbers go up by one, an entry that was read once stays as it was, each change that a visit found is
 * there once, and no other.
 */
export async function checkFeed(
  { db }: SimulatedProcess,
  { ledger, world }: Pick<Checked, 'ledger' | 'world'>,
  applied: readonly AppliedSegment[],
  report: (kind: string, detail: string) => void,
): Promise<void> {
  const ends = await db.feedEnds();
  let expected = ends.first;
  let notedAt = Number.NEGATIVE_INFINITY;
  const present = new Set<string>();
  const visits = new Set(applied.flatMap((each) => each.visits.map(({ url, outcome }) => `${url} ${outcome.at}`)));
  for await (const entry of db.changes()) {
    const { seq, url, at, kind, state } = entry;
    if (seq !== expected) report('feed has a gap', `${seq} follows ${expected - 1}`);
    expected = seq + 1;
    if (entry.notedAt < notedAt) report('feed out of order', `${seq} was noted before ${seq - 1}`);
    notedAt = entry.notedAt;
    const known = ledger.feed.get(seq);
    if (known !== undefined && known !== JSON.stringify(entry)) {
      report('feed rewritten', `${seq} was ${known}, is ${JSON.stringify(entry)}`);
    }
    if (!CRAWL_STATES.includes(state)) report('feed damaged', `${seq}: ${state}`);
    if (!BY_VISIT.has(kind)) continue;
    const name = `${url} ${at}`;
    if (present.has(name)) report('reported twice', `${kind} of ${url} at ${at}, ${seq}`);
    present.add(name);
    if (!visits.has(name)) report('reported without visit', `${kind} of ${url} at ${at}, ${seq}`);
  }
  if (expected !== ends.last + 1) report('feed has a gap', `it ends at ${expected - 1}, where ${ends.last} was given`);
  for (const seq of ledger.feed.keys()) if (seq > ends.last) report('feed entry lost', `${seq} was read`);
  if (ends.first > 1) return;
  for (const missing of changesOf(applied, (url) => world.isUnique(url))) {
    if (!present.has(missing)) report('change not reported', missing);
  }
}

/** Visits that found a page for the first time, or with other bytes than the last one: `URL time`. */
function changesOf(applied: readonly AppliedSegment[], isUnique: (url: string) => boolean): string[] {
  const digests = new Map<string, string>();
  const changes: string[] = [];
  for (const { visits } of applied) {
    for (const { url, outcome } of visits) {
      // Duplicates are reported by their groups, and pages that came in part have no digest to go by.
      if (!isUnique(url) || outcome.kind !== 'success') {
        if (outcome.kind === 'gone' || outcome.kind === 'redirect') digests.delete(url);
        continue;
      }
      if (outcome.truncated) digests.set(url, '?');
      else {
        const before = digests.get(url);
        digests.set(url, outcome.digest);
        if (before !== undefined ? before !== '?' && before !== outcome.digest : true)
          changes.push(`${url} ${outcome.at}`);
      }
    }
  }
  return changes;
}
