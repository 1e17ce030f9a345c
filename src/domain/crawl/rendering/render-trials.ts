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
export const MAX_PATTERNS = 16;
export const OTHER_PATTERNS = '*';
/** As many pages may be empty by chance: an error page, an empty list. */
const MISSES_TO_STOP = 3;

const DAY_MS = 86_400_000;
/** Pause before a pattern without gains is tried again; it doubles with each miss, up to the longest one. */
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
