import { createRequire } from 'node:module';
import type { CheerioAPI } from 'cheerio';
import type { Document, Element } from 'domhandler';
import type { BlockTable } from '../../domain/page/block-table.ts';
import type { PageNode } from '../../domain/page/page-node.ts';
import { flatten } from '../../domain/page/tape/flatten.ts';
import type { Tape } from '../../domain/page/tape/tape.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { Page } from '../api/plugin-api.ts';
import { decodedAs, encodingOf, utf8Of } from './decode.ts';
import { LiveResult } from './live-result.ts';
import { PageMemory } from './page-memory.ts';
import { markupOf, pageType } from './page-type.ts';
import { domOfTape } from './tape-dom.ts';

const require = createRequire(import.meta.url);
let cheerio: typeof import('cheerio') | null = null;

const NO_ELEMENTS: Page['linkElements'] = new Map();

/**
 * A page while parser and filters work on it. Decoding, the DOM and cheerio happen on first use. Until the DOM is asked
 * for, the tape of the parser is the page; from then on the DOM is, since a plugin may change it at any time.
 */
export class LivePage implements Page {
  readonly url: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly metadata: Page['metadata'];
  readonly result = new LiveResult();
  private readonly declared: string | null;
  private readonly memory: PageMemory;
  private encoding: string | null = null;
  private decoded: string | null = null;
  /** Of the parser, and of the DOM. */
  private ownTape: Tape | null = null;
  private domTape: Tape | null = null;
  private table: BlockTable | null = null;
  private document: Document | null = null;
  private elements: Page['linkElements'] = NO_ELEMENTS;
  private query: CheerioAPI | null = null;

  constructor(page: PageToParse, memory = new PageMemory()) {
    this.memory = memory;
    this.url = page.url;
    this.contentType = pageType(page.contentType, page.body);
    this.headers = page.headers;
    this.body = page.body;
    this.metadata = page.metadata;
    this.declared = page.contentType;
  }

  get content(): string {
    this.decoded ??= decodedAs(this.charset, this.body);
    return this.decoded;
  }

  get charset(): string {
    this.encoding ??= encodingOf(this.body, { contentType: this.declared, kind: markupOf(this.contentType) });
    return this.encoding;
  }

  /** The encoding by which the body was decoded; `null`: nobody has read it as text. */
  get usedCharset(): string | null {
    return this.encoding;
  }

  get utf8(): Uint8Array {
    return utf8Of(this.charset, this.body);
  }

  newTape(): Tape {
    this.ownTape ??= this.memory.tapes.take();
    this.document = null;
    this.elements = NO_ELEMENTS;
    this.query = null;
    return this.ownTape;
  }

  get tape(): Tape | null {
    if (this.document === null) return this.ownTape;
    this.domTape ??= this.memory.tapes.take();
    const nodes = flatten(this.document as unknown as PageNode, this.domTape);
    this.domTape.links = entriesOf(this.elements, nodes);
    return this.domTape;
  }

  get blocks(): BlockTable {
    this.table ??= this.memory.tables.take();
    return this.result.isWaiting('blocks') ? this.table : this.table.fill(this.result.blocks);
  }

  newBlocks(): BlockTable {
    const table = this.table ?? this.memory.tables.take();
    table.clear();
    this.table = table;
    this.result.readBlocksLater(() => table.list());
    return table;
  }

  readTextLater(read: () => string): void {
    this.result.readTextLater(read);
  }

  get dom(): Document | null {
    if (this.document !== null || this.ownTape === null) return this.document;
    const { document, elements } = domOfTape(this.ownTape);
    this.elements = elementsOf(this.ownTape, elements);
    this.document = document;
    return document;
  }

  set dom(document: Document | null) {
    void this.result.text;
    this.releaseTapes();
    this.document = document;
    this.query = null;
  }

  get linkElements(): Page['linkElements'] {
    if (this.ownTape !== null) this.dom;
    return this.elements;
  }

  set linkElements(elements: Page['linkElements']) {
    if (this.ownTape !== null) this.dom;
    this.elements = elements;
  }

  get $(): CheerioAPI {
    if (this.query !== null) return this.query;
    const { dom } = this;
    if (dom === null) throw new TypeError(`${this.url} (${this.contentType}) has no DOM to query`);
    cheerio ??= require('cheerio') as typeof import('cheerio');
    this.query = cheerio.load(dom);
    return this.query;
  }

  /** Gives its memory back for the next page; what was not read from it until then is lost. */
  release(): void {
    this.result.forget();
    this.releaseTapes();
    if (this.table !== null) this.memory.tables.giveBack(this.table);
    this.table = null;
  }

  private releaseTapes(): void {
    for (const tape of [this.ownTape, this.domTape]) if (tape !== null) this.memory.tapes.giveBack(tape);
    this.ownTape = null;
    this.domTape = null;
  }
}

function elementsOf({ links }: Tape, elements: readonly Element[]): Page['linkElements'] {
  return new Map([...links].map(([url, entries]) => [url, entries.map((at) => elements[at] as Element)]));
}

/** Anchors that are no longer in the page have no entry. */
function entriesOf(anchors: Page['linkElements'], nodes: readonly PageNode[]): Tape['links'] {
  if (anchors.size === 0) return new Map();
  const entryOf = new Map<PageNode, number>();
  nodes.forEach((node, at) => {
    entryOf.set(node, at);
  });
  return new Map(
    [...anchors].map(([url, elements]) => [
      url,
      elements.flatMap((element) => entryOf.get(element as unknown as PageNode) ?? []),
    ]),
  );
}
