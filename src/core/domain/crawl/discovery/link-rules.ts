import type { CrawlDatum } from '../states/datum.ts';

/** Counts of refused URLs, by plugin and the constant part of the reason: `urlfilter-traps: path repeats itself`. */
export type Rejections = Readonly<Record<string, number>>;

/** Most kinds counted by themselves. Reasons of custom plugins may contain anything, but a summary must stay short. */
const MAX_KINDS = 100;
const OTHERS = 'other reasons';

/** Kind of a refusal: the plugin, then the reason up to its first detail. */
export function rejectionKind(by: string, reason: string): string {
  const words = /^[^:,("]*/.exec(reason)?.[0].trim();
  return `${by}: ${words || 'refused'}`;
}

export function countRejection(counts: Record<string, number>, kind: string, by = 1): void {
  const isKnown = Object.hasOwn(counts, kind);
  const name = isKnown || Object.keys(counts).length < MAX_KINDS ? kind : OTHERS;
  counts[name] = (counts[name] ?? 0) + by;
}

/** The sum of the counts of several runs. */
export function sumOfRejections(parts: Iterable<Rejections>): Rejections {
  const sum: Record<string, number> = {};
  for (const part of parts) for (const [kind, count] of Object.entries(part)) countRejection(sum, kind, count);
  return sum;
}

/**
 * Redirects in a row by which a URL was found, from the metadata of its record. One that has been a page since begins a
 * new chain.
 */
export function redirectsTo({ digest, metadata }: Pick<CrawlDatum, 'digest' | 'metadata'>): number {
  return digest === null && typeof metadata.redirects === 'number' ? metadata.redirects : 0;
}

/** Whether a redirect of this URL would be one more than is followed. */
export const endsChain = (page: Pick<CrawlDatum, 'digest' | 'metadata'>, maxRedirects: number): boolean =>
  redirectsTo(page) >= maxRedirects;

/**
 * Links from a seed to the target of a redirect. A redirect counts as a link, unless it leads to the same address under
 * another scheme, or with or without `www.`: that is the same page by another name.
 */
export const depthAfter = (depth: number, from: string, to: string): number =>
  depth + (isSameAddress(new URL(from), new URL(to)) ? 0 : 1);

function isSameAddress(from: URL, to: URL): boolean {
  if (from.pathname !== to.pathname || from.search !== to.search) return false;
  const isSamePort = from.port === to.port || from.protocol !== to.protocol;
  return isSamePort && withoutWww(from.hostname) === withoutWww(to.hostname);
}

const withoutWww = (hostname: string): string => hostname.replace(/^www\./, '');

/** Rules by which the links of the stored pages were judged. */
export interface LinkRules {
  /** Fingerprint of the rules. */
  readonly print: string;
  /** Depth limit of new URLs: Infinity for none, 0 where no new URLs are admitted. */
  readonly layers: number;
}

/**
 * Whether other rules may admit links that were refused. A changed fingerprint may mean either direction, so it counts.
 */
export const mayLetInMore = (known: LinkRules, rules: LinkRules): boolean =>
  rules.print !== known.print || rules.layers > known.layers;

/** The rules that hold for all stored pages once some are judged by these rules: the smaller depth limit. */
export const narrowed = (known: LinkRules, rules: LinkRules): LinkRules =>
  rules.layers < known.layers ? { ...known, layers: rules.layers } : known;

export function encodeLinkRules({ print, layers }: LinkRules): string {
  return JSON.stringify({ print, layers: Number.isFinite(layers) ? layers : null });
}

/** `null` where none are stored, or the text is invalid. */
export function decodeLinkRules(text: string | undefined): LinkRules | null {
  if (text === undefined) return null;
  try {
    const { print, layers } = JSON.parse(text) as { print?: unknown; layers?: unknown };
    const isSound = typeof print === 'string' && (layers === null || typeof layers === 'number');
    return isSound ? { print, layers: (layers as number | null) ?? Number.POSITIVE_INFINITY } : null;
  } catch {
    return null;
  }
}
