// query/check/: one part of the chain, asked about one input.

import type { UrlScope } from '../../core/domain/url/canonical/url-key.ts';
import type { ParseSitemap } from '../../core/plugin-host/parsing/sitemap-parser.ts';
import type { UrlTraceStep } from '../../core/plugin-host/url-chain.ts';
import type { Outlink } from '../../core/ports/segment-store.ts';
import type { PageBlock } from '../../page/page-block.ts';

export interface UrlCheck {
  readonly input: string;
  readonly url: string | null;
  readonly reason: string | null;
  readonly steps: readonly UrlTraceStep[];
}

export interface UrlInput {
  readonly url: string;
  readonly base?: string;
  /** Where the URL is met; default: `default`. */
  readonly scope?: UrlScope;
}

export interface ParseCheck {
  readonly file: string | null;
  readonly url: string;
  readonly title: string | null;
  readonly authors: readonly string[];
  /** Times in ISO 8601. */
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly description: string | null;
  readonly keywords: readonly string[];
  /** Texts of links on the theme of the page. */
  readonly topics: readonly string[];
  /** What parse filters add to the record. */
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  readonly siteName: string | null;
  readonly image: string | null;
  /** Where the parser found each of these, by field. */
  readonly sources: Readonly<Record<string, string>>;
  readonly text: string;
  readonly mainText: string;
  readonly lang: string | null;
  readonly charset: string | null;
  readonly signature: string | null;
  /** By which visits are compared. */
  readonly changeSignature: string | null;
  readonly canonical: string | null;
  /** The version of the canonical page that it is: `amp`, `print` or `mobile`. */
  readonly variant: string | null;
  readonly nextPage: string | null;
  /** Its number in a series of pages, from 1. */
  readonly pageNumber: number | null;
  readonly contentType: string;
  readonly blocks: readonly PageBlock[];
  readonly outlinks: readonly (Outlink & { readonly noiseReason?: string })[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface SitemapCheck extends ReturnType<ParseSitemap> {
  readonly file: string;
}
