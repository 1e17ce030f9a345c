import type { PageVariant } from '../../../page/links/page-series.ts';
import type { PageBlock } from '../../../page/page-block.ts';
import type { MetadataValue } from '../../domain/crawl/states/datum.ts';
import type { Outlink } from '../../ports/segment-store.ts';

/** The outcome of parsing a page. Checked after each parser and filter: a field of another type fails the page. */
export interface ParseResult {
  title: string | null;
  /** The `title` element as written, which is what the signature and `diff` take; absent: as `title`. */
  documentTitle?: string | null;
  /** Visible text in reading order. */
  text: string;
  /**
   * Text of the main content; the signature prefers it to `text`. A parse filter finds it, or the parser of a document,
   * all of whose text is content: filters then leave it as it is.
   */
  mainText: string | null;
  /** Blocks in reading order, where a parse filter found them. */
  blocks: PageBlock[];
  /** Language tag (BCP 47), declared or guessed. */
  lang: string | null;
  description: string | null;
  keywords: string[];
  /** Names of people or, where none is given, of organizations. */
  authors: string[];
  /** When the page says that it was published, and last modified, ms since the epoch. */
  publishedAt: number | null;
  modifiedAt: number | null;
  /** Name of the site, as the page gives it. */
  siteName: string | null;
  /** Address of the image that stands for the page, absolute http(s). */
  image: string | null;
  /** Where each of these was found, by field, for people: `title: "h1, og:title"`. */
  sources: Record<string, string>;
  /** Canonical URL that the page declares, absolute. */
  canonical: string | null;
  /** The version of the page {@link canonical} that it is; `null`: a page of its own. */
  variant: PageVariant | null;
  /** The next page of a text or list of several pages, absolute, and the number of this one, from 1. */
  nextPage: string | null;
  pageNumber: number | null;
  /** Text of the page as its structured data have it (JSON-LD `articleBody`), as written. */
  articleBody: string | null;
  /** `<base href>`, absolute. */
  base: string | null;
  /** Robots directives of the page and its headers. */
  noindex: boolean;
  nofollow: boolean;
  /** A relative URL is resolved against `base`, or else the URL of the page. */
  outlinks: Outlink[];
  /** Added to the metadata of the URL in the crawl db; plugins name their keys `<plugin>.<key>`. */
  metadata: Record<string, MetadataValue>;
}
