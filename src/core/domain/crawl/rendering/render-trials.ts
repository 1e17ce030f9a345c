// core/domain/crawl/rendering/: pages whose content only scripts make: which, and what a host has shown of them.

/** How much a page says without its scripts. */
export interface PageFill {
  /** Letters and digits outside markup, scripts and styles. */
  readonly chars: number;
  /** `a` elements with an address. */
  readonly links: number;
  /** Whether there are scripts that could add to it. */
  readonly hasScripts: boolean;
}

/** Fewer characters than two sentences have: a notice that scripts are needed, a title, a spinner. */
export const BARE_CHARS = 250;
/** The way out of an empty page: home, imprint, privacy. */
const BARE_LINKS = 5;

/** Whether the static page is empty of content, and scripts may be what fills it. */
export const isBare = ({ chars, links, hasScripts }: PageFill): boolean =>
  hasScripts && chars < BARE_CHARS && links <= BARE_LINKS;

/** Least text, characters, and least number of links that make rendering worth its costs. */
const GAINED_CHARS = 100;
const GAINED_LINKS = 3;

/** Whether rendering has added content. */
export const hasGained = (before: PageFill, after: PageFill): boolean =>
  after.chars - before.chars >= GAINED_CHARS || after.links - before.links >= GAINED_LINKS;

const SKIPPED = ['script', 'style', 'noscript', 'template', 'head', 'svg'];
const IS_WORD = /[\p{L}\p{N}]/gu;

/**
 * Reads HTML once, from the left, without building a tree: the cost is linear, whatever the markup. What browsers show
 * is approximated, as a page is far from the limit or the trial decides.
 */
export function pageFill(html: string): PageFill {
  let chars = 0;
  let links = 0;
  // A name is dropped once no end tag follows: its text is then read as it stands, and the search is not repeated.
  const skipped = new Set(SKIPPED);
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? html.length : open;
    chars += wordChars(html.slice(at, end));
    if (open < 0) break;
    if (html.startsWith('<!--', open)) {
      at = endAfter(html, '-->', open + 4);
      continue;
    }
    const close = endAfter(html, '>', open + 1);
    const name = /^[a-z][a-z0-9]*/i.exec(html.slice(open + 1, open + 12))?.[0].toLowerCase();
    at = close;
    if (name === undefined) continue;
    if (name === 'a' && /\shref\s*=/i.test(html.slice(open, close))) links++;
    if (!skipped.has(name)) continue;
    const after = afterElement(html, name, close);
    if (after === null) skipped.delete(name);
    else at = after;
  }
  return { chars, links, hasScripts: HAS_SCRIPT.test(html) };
}

const wordChars = (text: string): number => text.match(IS_WORD)?.length ?? 0;
const HAS_SCRIPT = /<script[\s>]/i;

function endAfter(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found < 0 ? html.length : found + mark.length;
}

function afterElement(html: string, name: string, from: number): number | null {
  const end = new RegExp(`</${name}[\\s>]`, 'gi');
  end.lastIndex = from;
  const found = end.exec(html);
  return found === null ? null : endAfter(html, '>', found.index);
}

/** Paths told apart by their first segment only: a host that has more kinds of pages is learnt as a whole. */
const MAX_SEGMENT = 32;

/**
 * The path pattern that a page is learnt under: `/` for the home page, `/about` for a page at the top, `/items/*` for
 * all pages below a folder. A host part such as `/de/items/5` counts by its first two segments where the first is a
 * language.
 */
export function pagePattern(url: string): string {
  const { pathname } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  if (segments.length === 0) return '/';
  const isLanguage = /^[a-z]{2}(?:-[a-z]{2})?$/i.test(segments[0] as string);
  const depth = isLanguage && segments.length > 2 ? 2 : 1;
  const shown = segments.slice(0, depth).map((segment) => segment.slice(0, MAX_SEGMENT));
  return segments.length > depth ? `/${shown.join('/')}/*` : '/*';
}

/** Which HTML pages are rendered: none, all, or bare ones to which rendering adds content. */
export const RENDER_MODES = ['never', 'always', 'auto'] as const;
export type RenderMode = (typeof RENDER_MODES)[number];

/**
 * What a record keeps of a rendered page, so that a later visit can say "unchanged" without a browser: the static page
 * is the same, and so is what its scripts asked for.
 */
export interface RenderedCopy {
  /** Digest of the static body, as `CrawlDatum.digest` is that of the rendered content. */
  readonly digest: string;
  /** At most {@link MAX_INPUTS}. */
  readonly inputs: readonly RenderInput[];
}

/** A response that the page was made from: data that its scripts asked for, or a script of its own host. */
export interface RenderInput {
  readonly url: string;
  readonly etag: string | null;
  /** `Last-Modified` verbatim. */
  readonly lastModified: string | null;
  /** First 128 bits of the SHA-256 of its decoded body, 32 hex digits. */
  readonly digest: string;
}

/** The content of a page is mostly in its first few; more would amount to a crawl of their own. */
export const MAX_INPUTS = 8;
/** Longer addresses are not kept: a record is read and written at each visit. */
const MAX_INPUT_URL = 500;

/** The inputs to remember, data first. */
export function keptInputs(inputs: readonly (RenderInput & { readonly isData: boolean })[]): RenderInput[] {
  const fitting = inputs.filter(({ url }) => url.length <= MAX_INPUT_URL);
  const ordered = [...fitting.filter(({ isData }) => isData), ...fitting.filter(({ isData }) => !isData)];
  return ordered
    .slice(0, MAX_INPUTS)
    .map(({ url, etag, lastModified, digest }) => ({ url, etag, lastModified, digest }));
}

/** What rendering has shown of the bare pages of a host under one path pattern. */
export interface RenderTrials {
  readonly pattern: string;
  /** Bare pages rendered, and those of them to which rendering has added content. */
  readonly renders: number;
  readonly gains: number;
  /** Renders in a row without a gain; 0 after a gain. */
  readonly misses: number;
  /** Time of the last render, ms since the epoch. */
  readonly at: number;
}

/** One bare page that was rendered. */
export interface RenderTrial {
  readonly pattern: string;
  readonly gained: boolean;
  readonly at: number;
}

/** Patterns kept of a host; pages of others share the last one. */
const MAX_PATTERNS = 16;
const OTHER_PATTERNS = '*';
/** Fewer pages may be empty by chance: an error page, an empty list. */
const MISSES_TO_STOP = 3;

const DAY_MS = 86_400_000;
/** First pause before a pattern without gains is tried again; it doubles with each miss, up to the longest pause. */
const RETRY_MS = 7 * DAY_MS;
const MAX_RETRY_MS = 112 * DAY_MS;

/** When bare pages of a pattern are rendered again, ms since the epoch; 0: now. */
export function rendersFrom(trials: Pick<RenderTrials, 'misses' | 'at'>): number {
  if (trials.misses < MISSES_TO_STOP) return 0;
  return trials.at + Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (trials.misses - MISSES_TO_STOP));
}

/** The trials of a pattern; `undefined`: there were none. */
export const trialsOf = (known: readonly RenderTrials[] | null, pattern: string): RenderTrials | undefined =>
  known?.find((each) => each.pattern === pattern) ??
  ((known?.length ?? 0) < MAX_PATTERNS ? undefined : known?.find((each) => each.pattern === OTHER_PATTERNS));

/** Whether a bare page is to be rendered: nothing speaks against it so far, or it is time to ask again. */
export function mayGain(known: readonly RenderTrials[] | null, pattern: string, now: number): boolean {
  const trials = trialsOf(known, pattern);
  return trials === undefined || rendersFrom(trials) <= now;
}

/** At most {@link MAX_PATTERNS}, in the order in which they were met. */
export function withTrial(known: readonly RenderTrials[] | null, trial: RenderTrial): readonly RenderTrials[] {
  const trials = known ?? [];
  const isKnown = trials.some(({ pattern }) => pattern === trial.pattern);
  const pattern = isKnown || trials.length < MAX_PATTERNS - 1 ? trial.pattern : OTHER_PATTERNS;
  const before = trials.find((each) => each.pattern === pattern);
  const after: RenderTrials = {
    pattern,
    renders: (before?.renders ?? 0) + 1,
    gains: (before?.gains ?? 0) + (trial.gained ? 1 : 0),
    misses: trial.gained ? 0 : (before?.misses ?? 0) + 1,
    at: Math.max(before?.at ?? 0, trial.at),
  };
  return before === undefined ? [...trials, after] : trials.map((each) => (each === before ? after : each));
}
