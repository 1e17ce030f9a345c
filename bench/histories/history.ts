/** A run of the crawler in the recorded time of a site, with all that the site was at that moment. */
export interface Step {
  /** Seconds since the epoch. */
  readonly time: number;
  /** When the state that is served was deployed, seconds since the epoch. */
  readonly deployed: number;
  readonly commit: string;
  /** Files by their paths below the root, with the numbers of their bodies; the same map while nothing changes. */
  readonly tree: ReadonlyMap<string, number>;
  /** When each file changed last, seconds since the epoch. */
  readonly modified: ReadonlyMap<string, number>;
  /** Pages that links reach from the start page. */
  readonly reached: ReadonlySet<string>;
}

/** The recorded years of a site. */
export interface History {
  readonly name: string;
  readonly daysPerStep: number;
  readonly steps: readonly Step[];
  readonly bodies: readonly Buffer[];
  /** Paths that a file with this body links to, by {@link linkKey}. */
  readonly links: ReadonlyMap<string, readonly string[]>;
}

export const START_PAGE = 'index.html';

export const linkKey = (file: string, body: number): string => `${file}\0${body}`;

export const isPage = (file: string): boolean => file.endsWith('.html') || file.endsWith('.htm');

/** Pages that a file links to at this step; a link to a folder is one to its index. */
export function* linkedPages({ links }: History, { tree }: Step, file: string): Generator<string> {
  const body = tree.get(file);
  if (body === undefined) return;
  for (const path of links.get(linkKey(file, body)) ?? []) {
    const target = tree.has(path) ? path : `${path}/index.html`;
    if (tree.has(target) && isPage(target)) yield target;
  }
}

/** Half goes to the even neighbour, as in the reference's budgets: 2.5 pages are 2. */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

/** Fetches of a run under a budget of this share of the pages. */
export const budgetOf = (share: number, { reached }: Step): number => Math.max(1, roundHalfEven(share * reached.size));
