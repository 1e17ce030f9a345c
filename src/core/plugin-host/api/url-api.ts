import type { UrlScope } from '../../domain/url/canonical/url-key.ts';
import type { ShareOptions, UrlFamily } from '../../domain/url/families/family-shares.ts';
import type { UrlFeatures } from '../../domain/url/families/url-families.ts';

export type { UrlScope } from '../../domain/url/canonical/url-key.ts';
export type { ShareOptions, UrlFamily } from '../../domain/url/families/family-shares.ts';
export type { UrlFeature, UrlFeatures } from '../../domain/url/families/url-families.ts';

/**
 * Rewrites URLs, before the filters. Normalisers run in the order of the plugin list, or as `scopes` in that file names
 * them for a scope.
 */
export interface UrlNormalizer {
  /**
   * The rewritten form of a canonical URL, or `null` to refuse it. Must be idempotent and synchronous. The host makes
   * the result canonical again. A normaliser that throws keeps the URL out. `scope` says where the URL was met; absent:
   * `default`.
   */
  normalize(url: string, scope?: UrlScope): string | null;
  /**
   * The rules of {@link normalize} that change this URL, in order, each with the URL after it; for `incrawl check url`.
   * Without it the normaliser is shown as one step.
   */
  explain?(url: string): readonly { readonly rule: string; readonly after: string }[];
}

/** Where a URL was found. */
export interface UrlContext {
  /** The page that links to it; `null` for a seed. */
  readonly from: string | null;
  /** Number of links from a seed. */
  readonly depth: number;
  /** `host[:port]` of the seeds, for scope rules. May be empty in `incrawl check url`. */
  readonly seedHosts: ReadonlySet<string>;
  /** Where it was met; absent: `default`. */
  readonly scope?: UrlScope;
}

export type UrlVerdict =
  | { readonly accept: true; readonly reason?: string }
  /** `reason` is shown and counted: stable words first, as in `rule line 12: -\\.gif$`. Cut after 500 characters. */
  | { readonly accept: false; readonly reason: string };

/** Lets URLs in or keeps them out. Filters run in the order of the plugin list; the first refusal decides. */
export interface UrlFilter {
  /** Judges a normalised URL. Synchronous. A filter that throws keeps the URL out; the reason names the plugin. */
  filter(url: string, context: UrlContext): UrlVerdict;
  /**
   * Whether the verdict may depend on `depth`: then links that are refused for it stay known, and are judged again when
   * a shorter way to their page is found. Absent: it does not.
   */
  readonly judgesDepth?: boolean;
  /** What the filter goes by, of a URL that it lets in; for `incrawl check url` and `incrawl explain`. */
  describe?(url: string): string;
  /**
   * For filters that count: called once for each new URL, that is one that passed all filters and is not in the crawl
   * db, in the order found. A filter that throws admits the URL.
   */
  admit?(url: string): UrlAdmissionVerdict;
  /** Called with every URL of the crawl db before the first {@link admit} of a run. */
  learn?(url: string): void;
  /**
   * Features of a URL by name, for filters that compare URLs, such as `urlfilter-similarity`. Of two of one name the
   * one of the later filter counts.
   */
  readonly features?: UrlFeatures;
  /** Called once, before any other method, with the {@link features} of all URL filters. An error ends the start. */
  useFeatures?(features: UrlFeatures): void;
  /**
   * Families of like URLs, among which the host shares out how many new URLs of a site enter: those beyond the share of
   * their family wait until visits to it bring something new. Of several filters with families the first one counts.
   */
  readonly sharing?: FamilySharing;
}

/** How a site is shared out among families of like URLs. */
export interface FamilySharing extends ShareOptions {
  /**
   * The families of a URL, the narrowest first, the whole site last. Called once {@link UrlFilter.useFeatures} was.
   * Synchronous; a filter that throws lets the URL in.
   */
  familiesOf(url: string): readonly UrlFamily[];
  /** URLs that a host may have before any is judged. */
  readonly free: number;
  /** Factor on the score of URLs that enter without room, above 0 and below 1. */
  readonly demote: number;
}

export type UrlAdmissionVerdict =
  /** `demote`: factor on the score of the URL, above 0 and below 1. */
  | { readonly admit: true; readonly demote?: number; readonly reason?: string }
  | { readonly admit: false; readonly reason: string };

/** The refusal of a URL filter. */
export interface UrlRefusal {
  /** The name of the filter. */
  readonly by: string;
  readonly reason: string;
}

export type UrlExemptionVerdict =
  /** `reason` is shown by `incrawl check url` and `explain`. */
  { readonly exempt: true; readonly reason: string } | { readonly exempt: false };

/**
 * Exempts URLs from the refusal of a filter, as URLExemptionFilter of Nutch; the filters behind that one still judge.
 */
export interface UrlExemption {
  /**
   * Called for a normalised URL that a filter refuses. Synchronous. If it throws, the URL stays out; the reason names
   * the plugin. Before each visit generate calls it again, with `from` null and `generate` as the scope: what was let
   * in by its linking page must then be recognised by its URL, or exempted by that scope.
   */
  exempt(url: string, refusal: UrlRefusal, context: UrlContext): UrlExemptionVerdict;
}
