import type { ReparseOperations } from '../care/reparse/reparse-operations.ts';
import type { CareOperations } from '../care/state/care-operations.ts';
import type { InTurnDeps } from '../cluster/partitions/in-turn.ts';
import type { OpenSpreadDb } from '../cluster/partitions/open-spread-db.ts';
import { feedsOf } from '../cluster/partitions/spread-feed.ts';
import { vectorOf } from '../core/domain/crawl/change/change-feed.ts';
import { senderOf } from '../core/domain/crawl/discovery/forwarded-link.ts';
import type { Since } from '../delivery/export/changed-pages.ts';
import type { CrawlDeps } from '../operations/deps.ts';
import { openSegments } from '../operations/state/open-segments.ts';
import type { DedupOperations } from '../published/dedup/dedup-operations.ts';
import type { LinkOperations } from '../published/map-reduce/link-operations.ts';
import { loadedLater } from './loaded-later.ts';

interface SpreadDeps {
  readonly wiring: InTurnDeps['wiring'];
  readonly whole: OpenSpreadDb;
  /** Whether nothing is changed. */
  readonly isDry: boolean;
}

type Operations = ReparseOperations & CareOperations & LinkOperations & DedupOperations;
const NEVER = new AbortController().signal;
const EXAMPLES = 10;

/**
 * Operations on all pages of a partitioned crawl. `dedup` compares the pages of all partitions and sends its marks to
 * the holders; the others process one partition after the other. Each may be run again after an interruption.
 */
export function spreadOperations(deps: SpreadDeps): Operations {
  return {
    ...loadedLater<ReparseOperations>({ reparse: 'promise' }, async () => reparseOf(deps)),
    ...loadedLater<CareOperations>({ pruneSegments: 'promise' }, async () => careOf(deps)),
    ...loadedLater<DedupOperations>({ dedup: 'promise', applyPairs: 'promise', undoDedup: 'promise' }, () =>
      dedupOf(deps),
    ),
    ...loadedLater<LinkOperations>(
      {
        linkClusters: 'iterable',
        applyLinkClusters: 'promise',
        undoLinkClusters: 'promise',
        linkFamilies: 'iterable',
      },
      () => linksOf(deps),
    ),
  };
}

const numbersOf = ({ whole }: SpreadDeps): number[] => whole.parts.map(({ number }) => number);

function reparseOf({ wiring, whole, isDry }: SpreadDeps): ReparseOperations {
  const { stores, turns } = whole;
  const sinceIn = (since: Since, partition: number): Since =>
    'at' in since ? since : { after: vectorOf(since.after, feedsOf(stores))[partition] ?? 0 };
  return {
    async reparse(query = {}, { signal = NEVER } = {}) {
      const { inTurn, inCopies } = await import('../cluster/partitions/in-turn.ts');
      const { reparsePages } = await import('../care/reparse/reparse-operations.ts');
      const { summedReparses } = await import('../care/reparse/reparse-summary.ts');
      const { host, since, dryRun = false, examples = EXAMPLES } = query;
      const partitions = numbersOf({ wiring, whole, isDry }).filter(
        (number) => host === undefined || number === whole.partitionOf(host),
      );
      const one = (own: CrawlDeps, partition: number, ended: AbortSignal) => {
        const from = since === undefined ? {} : { since: sinceIn(since, partition) };
        return reparsePages(own, { ...query, ...from }, ended);
      };
      const asked = { wiring, stores, turns, partitions, signal };
      const all = await (isDry || dryRun ? inCopies(asked, one) : inTurn(asked, one));
      return summedReparses(all, { dryRun, examples, isCutShort: signal.aborted });
    },
  };
}

function careOf({ wiring, whole, isDry }: SpreadDeps): CareOperations {
  const { stores, turns } = whole;
  return {
    async pruneSegments(options) {
      const { inTurn, inCopies } = await import('../cluster/partitions/in-turn.ts');
      const { careOperations, summedPrunes } = await import('../care/state/care-operations.ts');
      const dryRun = isDry || options.dryRun;
      const one = async (own: CrawlDeps, partition: number) => ({
        partition: senderOf(partition),
        summary: await careOperations(own).pruneSegments({ ...options, dryRun }),
      });
      const asked = { wiring, stores, turns, partitions: numbersOf({ wiring, whole, isDry }), signal: NEVER };
      return { ...summedPrunes(await (dryRun ? inCopies(asked, one) : inTurn(asked, one))), dryRun };
    },
  };
}

async function dedupOf({ wiring, whole, isDry }: SpreadDeps): Promise<DedupOperations> {
  const { judgementsOn } = await import('../cluster/partitions/judgements.ts');
  const { dedupOperations } = await import('../published/dedup/dedup-operations.ts');
  const segments = await segmentsOf({ wiring, whole, isDry });
  const { trial, stores, turns } = whole;
  const sending = async <Value>(use: (operations: DedupOperations) => Promise<Value>) => {
    const judgements = judgementsOn({ whole: trial, stores, turns });
    const value = await use(dedupOperations({ ...wiring, segments, store: () => judgements, isShared: true }));
    return { value, sent: await judgements.end() };
  };
  return {
    async dedup(request, onDuplicate) {
      const { value, sent } = await sending((own) => own.dedup(request, onDuplicate));
      return { ...value, ...sent };
    },
    async applyPairs(files, request, onDuplicate) {
      const { value, sent } = await sending((own) => own.applyPairs(files, request, onDuplicate));
      return { ...value, ...sent };
    },
    undoDedup: async (dryRun) => (await sending((own) => own.undoDedup(dryRun || isDry))).value,
  };
}

async function linksOf({ wiring, whole, isDry }: SpreadDeps): Promise<LinkOperations> {
  const { inTurn } = await import('../cluster/partitions/in-turn.ts');
  const { clustersOf, ofCrawl } = await import('../published/map-reduce/link-operations.ts');
  const { keepFamilies, noiseFamilies, undoFamilies } = await import('../published/map-reduce/keep-families.ts');
  const { clock } = wiring.runtime;
  const { trial, stores, turns } = whole;
  const asked = { wiring, stores, turns, partitions: numbersOf({ wiring, whole, isDry }), signal: NEVER };
  const clusters = { ...wiring, segments: await segmentsOf({ wiring, whole, isDry }) };
  return {
    linkClusters: () => clustersOf(clusters),
    async applyLinkClusters(files) {
      // Links are judged where they are found: each partition gets the families of all domains.
      const kept = await noiseFamilies(files ?? ofCrawl(clusters), clock.now());
      const summary = await keepFamilies(trial, kept);
      if (!isDry) await inTurn(asked, (own) => keepFamilies(own.store().db, kept));
      return summary;
    },
    async undoLinkClusters(domain) {
      if (isDry) return undoFamilies(trial, domain, clock.now());
      const all = await inTurn(asked, (own) => undoFamilies(own.store().db, domain, clock.now()));
      return {
        domains: Math.max(0, ...all.map(({ domains }) => domains)),
        families: Math.max(0, ...all.map(({ families }) => families)),
        restored: all.reduce((sum, { restored }) => sum + restored, 0),
      };
    },
    linkFamilies: () => trial.scanLinkFamilies(),
  };
}

async function segmentsOf({ wiring, whole }: SpreadDeps) {
  const { joinedSegments } = await import('../cluster/partitions/in-turn.ts');
  const { config, runtime } = wiring;
  const each = whole.parts.map(({ dir, number }) => [number, openSegments({ config, dir, log: runtime.log })] as const);
  return joinedSegments(new Map(each));
}
