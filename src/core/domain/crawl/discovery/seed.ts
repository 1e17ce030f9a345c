import { trimUrl } from '../../url/canonical/canonical-url.ts';
import { FIRST_INTERVAL_KEY } from '../revisit/next-visit.ts';
import type { CrawlDatum, MetadataValue } from '../states/datum.ts';
import { revived } from '../states/settle.ts';

/** Metadata key of a seed with a crawl depth of its own, and of the pages first found on the way from it. */
export const SEED_LAYERS_KEY = 'seed.depth';

/** The crawl depth of the seed from which a page was first found, as layers; `null`: it has none of its own. */
export function seedLayersOf({ metadata }: Pick<CrawlDatum, 'metadata'>): number | null {
  const layers = metadata[SEED_LAYERS_KEY];
  return typeof layers === 'number' ? layers : null;
}

/** The operator's settings for a seed. */
export interface SeedSettings {
  readonly score: number | null;
  /** Start interval, ms. */
  readonly intervalMs: number | null;
  /** Interval that overrides every schedule, ms. */
  readonly fixedIntervalMs: number | null;
  /** Crawl depth from this seed: 1 is the seed alone; `null`: as for all. */
  readonly layers: number | null;
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

export interface Seed extends SeedSettings {
  readonly url: string;
}

/** Those of a plain URL; its `metadata` is that of every seed without any. */
export const NO_SETTINGS: SeedSettings = Object.freeze({
  score: null,
  intervalMs: null,
  fixedIntervalMs: null,
  layers: null,
  metadata: Object.freeze({}),
});

/** Treatment of a seed that is known already. */
export type InjectMode = 'keep' | 'retry' | 'update' | 'overwrite';

/** Longest interval of a seed, seconds: ten years. */
const MAX_INTERVAL_S = 315_360_000;
const MAX_LAYERS = 1_000;

/**
 * Parses a line of a seed file in Nutch's format: a URL, then `key=value` pairs, separated by tabs. The keys `score`,
 * `depth`, `interval` and `fixedInterval` (seconds; also Nutch's `nutch.score`, `nutch.fetchInterval`,
 * `nutch.fetchInterval.fixed`) are settings, all others metadata. `null` for blank lines and comments (`#`); an error
 * states what was expected.
 */
export function parseSeedLine(line: string): Seed | { readonly error: string } | null {
  const text = withPlainScheme(trimUrl(line.replace(/^\uFEFF/, '')));
  if (text === '' || text.startsWith('#')) return null;
  const [url = '', ...pairs] = text.split('\t').map(trimUrl);
  if (/\s/.test(url)) {
    return { error: 'expected a URL, then key=value pairs separated by tabs (there is a space where a tab should be)' };
  }
  let score: number | null = null;
  let intervalMs: number | null = null;
  let fixedIntervalMs: number | null = null;
  let layers: number | null = null;
  let metadata: Record<string, MetadataValue> | null = null;
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    if (equals < 1) return { error: `expected key=value after the URL, found "${pair}"` };
    const key = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    switch (key) {
      case 'score':
      case 'nutch.score': {
        score = value === '' ? Number.NaN : Number(value);
        if (!Number.isFinite(score) || score < 0) return { error: `expected ${key}= a number >= 0, found "${value}"` };
        break;
      }
      case 'depth':
        layers = Number(value);
        if (!/^\d+$/.test(value) || layers < 1 || layers > MAX_LAYERS) {
          return { error: `expected depth= a whole number from 1 (the seed alone) to ${MAX_LAYERS}, found "${value}"` };
        }
        break;
      case 'interval':
      case 'nutch.fetchInterval':
      case 'fixedInterval':
      case 'nutch.fetchInterval.fixed': {
        const seconds = value === '' ? Number.NaN : Number(value);
        if (!Number.isFinite(seconds) || seconds < 1 || seconds > MAX_INTERVAL_S) {
          return { error: `expected ${key}= seconds between 1 and ${MAX_INTERVAL_S}, found "${value}"` };
        }
        if (key === 'interval' || key === 'nutch.fetchInterval') intervalMs = seconds * 1_000;
        else fixedIntervalMs = seconds * 1_000;
        break;
      }
      default:
        if (key === '__proto__') return { error: 'expected another metadata key than "__proto__"' };
        metadata ??= {};
        metadata[key] = value;
    }
  }
  return { url, score, intervalMs, fixedIntervalMs, layers, metadata: metadata ?? NO_SETTINGS.metadata };
}

/** The line without white space inside the scheme, which URL parsers remove: a tab there is not a separator. */
function withPlainScheme(line: string): string {
  const end = line.indexOf(':');
  const scheme = line.slice(0, Math.max(end, 0)).replace(/[\t\n\r]+/g, '');
  return /^https?$/i.test(scheme) ? scheme + line.slice(end) : line;
}

/**
 * A known record after its URL was injected again. `overwrite` resets the record, `update` only the settings of the
 * seed; `retry` makes it due at once where it was never fetched. A seed is never an orphan: a former orphan is due at
 * once.
 */
export function reinject(known: CrawlDatum, seed: Seed, mode: InjectMode, fresh: CrawlDatum): CrawlDatum {
  const datum = known.state === 'orphan' ? revived(known, fresh.discoveredAt, 'seed') : known;
  switch (mode) {
    case 'keep':
      return asSeed(datum);
    case 'retry':
      return wasFetched(datum) ? asSeed(datum) : broughtForward(asSeed(datum), fresh.discoveredAt);
    case 'update':
      return {
        ...datum,
        seed: true,
        depth: 0,
        score: seed.score ?? datum.score,
        fixedIntervalMs: seed.fixedIntervalMs ?? datum.fixedIntervalMs,
        schedule: seed.intervalMs === null ? datum.schedule : { ...datum.schedule, intervalMs: seed.intervalMs },
        ...nextAfterUpdate(datum, seed),
        visits: visitsAfterUpdate(datum, seed),
        metadata: { ...datum.metadata, ...seedMetadata(seed) },
      };
    case 'overwrite':
      return { ...fresh, discoveredAt: datum.discoveredAt };
  }
}

/** Metadata of the record of a seed. */
export const seedMetadata = ({ metadata, intervalMs, layers }: Seed): Seed['metadata'] =>
  intervalMs === null && layers === null
    ? metadata
    : {
        ...metadata,
        ...(intervalMs !== null && { [FIRST_INTERVAL_KEY]: intervalMs }),
        ...(layers !== null && { [SEED_LAYERS_KEY]: layers }),
      };

const asSeed = (datum: CrawlDatum): CrawlDatum => (datum.seed ? datum : { ...datum, seed: true, depth: 0 });

const broughtForward = (datum: CrawlDatum, at: number): CrawlDatum =>
  datum.nextFetchAt !== null && datum.nextFetchAt <= at ? datum : { ...datum, nextFetchAt: at, dueBy: 'seed' };

/** Whether a visit brought a page or a redirect, at any time. */
export const wasFetched = ({ digest, state }: CrawlDatum): boolean =>
  digest !== null || state === 'redir_temp' || state === 'redir_perm';

/** A new interval counts from the last visit; without one, or before the first visit, the due time stays. */
function nextAfterUpdate(
  { lastFetchAt, nextFetchAt, dueBy }: CrawlDatum,
  seed: Seed,
): Pick<CrawlDatum, 'nextFetchAt' | 'dueBy'> {
  const interval = seed.fixedIntervalMs ?? seed.intervalMs;
  if (interval === null || lastFetchAt === null || nextFetchAt === null) return { nextFetchAt, dueBy };
  return { nextFetchAt: lastFetchAt + interval, dueBy: 'seed' };
}

/** The interval of the seed becomes that after the last visit, from which the next one starts. */
function visitsAfterUpdate({ visits }: CrawlDatum, seed: Seed): CrawlDatum['visits'] {
  const intervalMs = seed.fixedIntervalMs ?? seed.intervalMs;
  return intervalMs === null
    ? visits
    : visits.map((visit, i) => (i < visits.length - 1 ? visit : { ...visit, intervalMs }));
}
