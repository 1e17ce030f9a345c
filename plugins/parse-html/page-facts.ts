import { Statements } from 'incrawl/bundled';
import type { Outlink } from 'incrawl/plugin';

/** A link as written, not yet resolved. */
export interface RawLink {
  readonly href: string;
  readonly rel: Outlink['rel'];
  readonly nofollow: boolean;
  readonly lang: string | undefined;
  /** Of a `link` element: the version of this page that its target is. */
  readonly variant: Outlink['variant'];
  /** Whether its target is the next page, or the one before, by `rel`. */
  readonly series: 'next' | 'prev' | undefined;
  /** Of an anchor: its entry on the tape. */
  readonly entry: number | undefined;
  /** Known when the element ends. */
  anchor: string;
}

/** Facts collected by one walk over a page. */
export interface PageFacts {
  /** The `title` element, white space folded. */
  title: string | null;
  /** Entries of the `h1` elements that are shown. */
  headings: number[];
  /** Everything except the language. */
  readonly stated: Statements;
  lang: string | null;
  /** The page is written in AMP. */
  isAmp: boolean;
  /** `og:locale`. */
  locale: string | null;
  keywords: string[];
  baseHref: string | null;
  /** Contents of `meta name="robots"` and of those named for the agent. */
  robots: string[];
  links: RawLink[];
}

export function emptyFacts(): PageFacts {
  return {
    title: null,
    headings: [],
    stated: new Statements(),
    lang: null,
    isAmp: false,
    locale: null,
    keywords: [],
    baseHref: null,
    robots: [],
    links: [],
  };
}
