import type { Outlink } from 'incrawl/plugin';

/** A link as written, not yet resolved. */
export interface RawLink {
  readonly href: string;
  readonly rel: Outlink['rel'];
  readonly nofollow: boolean;
  readonly lang: string | undefined;
  /** Of an anchor: its entry on the tape. */
  readonly entry: number | undefined;
  /** Known when the element ends. */
  anchor: string;
}

/** Facts collected by one walk over a page. */
export interface PageFacts {
  title: string | null;
  /** `og:title`, for pages without a title. */
  socialTitle: string | null;
  lang: string | null;
  description: string | null;
  socialDescription: string | null;
  keywords: string[];
  baseHref: string | null;
  /** Contents of `meta name="robots"` and of those named for the agent. */
  robots: string[];
  links: RawLink[];
}

export function emptyFacts(): PageFacts {
  return {
    title: null,
    socialTitle: null,
    lang: null,
    description: null,
    socialDescription: null,
    keywords: [],
    baseHref: null,
    robots: [],
    links: [],
  };
}
