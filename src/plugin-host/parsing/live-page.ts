import { createRequire } from 'node:module';
import type { CheerioAPI } from 'cheerio';
import type { Document } from 'domhandler';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { Page, ParseResult } from '../api/plugin-api.ts';
import { decodeBody } from './decode.ts';
import { markupOf, pageType } from './page-type.ts';

const require = createRequire(import.meta.url);
let cheerio: typeof import('cheerio') | null = null;

const NO_ELEMENTS: Page['linkElements'] = new Map();

/** A page while parser and filters work on it. Decoding and cheerio happen on first use. */
export class LivePage implements Page {
  readonly url: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly metadata: Page['metadata'];
  readonly result: ParseResult;
  dom: Document | null = null;
  linkElements: Page['linkElements'] = NO_ELEMENTS;
  private readonly declared: string | null;
  private decoded: { readonly text: string; readonly charset: string } | null = null;
  private query: CheerioAPI | null = null;

  constructor(page: PageToParse) {
    this.url = page.url;
    this.contentType = pageType(page.contentType, page.body);
    this.headers = page.headers;
    this.body = page.body;
    this.metadata = page.metadata;
    this.declared = page.contentType;
    this.result = {
      title: null,
      text: '',
      mainText: null,
      lang: null,
      description: null,
      keywords: [],
      blocks: [],
      canonical: null,
      base: null,
      noindex: false,
      nofollow: false,
      outlinks: [],
      metadata: {},
    };
  }

  get content(): string {
    return this.decode().text;
  }

  get charset(): string {
    return this.decode().charset;
  }

  get $(): CheerioAPI {
    if (this.query !== null) return this.query;
    if (this.dom === null) throw new TypeError(`${this.url} (${this.contentType}) has no DOM to query`);
    cheerio ??= require('cheerio') as typeof import('cheerio');
    this.query = cheerio.load(this.dom);
    return this.query;
  }

  private decode(): { readonly text: string; readonly charset: string } {
    const decoded =
      this.decoded ?? decodeBody(this.body, { contentType: this.declared, kind: markupOf(this.contentType) });
    this.decoded = decoded;
    return decoded;
  }
}
