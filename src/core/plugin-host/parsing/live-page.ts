import { createRequire } from 'node:module';
import type { CheerioAPI } from 'cheerio';
import type { Document, Element } from 'domhandler';
import { BlockTable } from '../../../page/block-table.ts';
import type { PageNode } from '../../../page/page-block.ts';
import { flatten, Tape } from '../../../page/tape/tape.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { Page } from '../api/plugin-api.ts';
import { decodedAs, encodingOf, sniffEncoding, utf8Of } from './decode.ts';
import { LiveResult } from './live-result.ts';
import { domOfTape } from './tape-dom.ts';

/** Types that servers send for files which a browser shall save, and those of all ZIP files. */
const VAGUE: ReadonlySet<string> = new Set(
  'binary/octet-stream application/download application/force-download application/x-download application/x-force-download application/unknown application/x-unknown unknown/unknown application/zip application/x-zip application/x-zip-compressed'.split(
    ' ',
  ),
);

/**
 * MIME type of a body: as declared, unless it is declared as text and is clearly binary, or by a type that says nothing
 * and is a document; without a declaration by its first bytes (a small part of the WHATWG MIME Sniffing Standard).
 */
export function pageType(contentType: string | null, body: Uint8Array): string {
  const declared = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 512));
  if (/^[\w.+-]+\/[\w.+-]+$/.test(declared) && declared !== 'application/octet-stream') {
    const isText = /^text\/|[/+]xml$/.test(declared);
    if (isText && isNoText(start, contentType, markupOf(declared))) return binaryType(start);
    if (VAGUE.has(declared)) return documentType(body) ?? declared;
    return otherMarkup(declared, start) ?? declared;
  }
  const text = start
    .toString('latin1')
    .replace(/^(?:\xEF\xBB\xBF|\s)+/, '')
    .toLowerCase();
  if (HTML_START.test(text)) return 'text/html';
  if (text.startsWith('<?xml') || text.startsWith('<rss') || text.startsWith('<feed') || text.startsWith('<urlset')) {
    return 'application/xml';
  }
  const document = documentType(body);
  if (document !== null) return document;
  return start.some(isControl) ? 'application/octet-stream' : 'text/plain';
}

const HTML_START = /^<(?:!doctype html|html|head|body|title|meta|script|div|p|a|h1|!--)/;

/** Processing instructions, comments and a document type, which may precede the root element. */
const PROLOG = /^(?:\xef\xbb\xbf)?(?:\s+|<\?[^>]*>|<!--(?:(?!-->)[\s\S])*-->|<!doctype[^>[]*>)*/i;

/**
 * A feed declared as HTML, recognised as browsers do, or an XHTML page declared as XML: parsed as declared, it would
 * lose its links.
 */
function otherMarkup(declared: string, start: Buffer): string | null {
  if (declared !== 'text/html' && declared !== 'text/xml' && declared !== 'application/xml') return null;
  const text = start.toString('latin1');
  const root = /^<([\w:]+)[\s>]/.exec(text.slice(PROLOG.exec(text)?.[0].length ?? 0))?.[1]?.toLowerCase() ?? '';
  if (declared === 'text/html') return FEEDS.has(root) ? 'application/xml' : null;
  return root === 'html' ? 'application/xhtml+xml' : null;
}

const FEEDS: ReadonlySet<string> = new Set(['rss', 'feed', 'rdf:rdf']);

/** "Binary data byte" of the MIME Sniffing Standard. */
const isControl = (byte: number): boolean =>
  byte < 9 || byte === 11 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32);

/** Pages sometimes have stray control characters; of compressed data, one byte in ten is in that range. */
const STRAY_CONTROLS = 3;
const STRAY_SHARE = 0.05;

/** An image, document or archive declared as text. */
function isNoText(start: Buffer, contentType: string | null, kind: 'html' | 'xml' | 'text'): boolean {
  if (isPdf(start)) return true;
  let controls = 0;
  for (const byte of start) if (isControl(byte)) controls++;
  if (controls <= STRAY_CONTROLS || controls <= STRAY_SHARE * start.length) return false;
  // Some servers fill up their templates with NUL characters, which parsers of HTML skip.
  if (kind === 'html' && HTML_START.test(withoutControls(start).trimStart().toLowerCase())) return false;
  return !sniffEncoding(start, { contentType, kind })?.startsWith('utf-16');
}

const isPdf = (start: Buffer): boolean => start.toString('latin1', 0, 5) === '%PDF-';

const withoutControls = (start: Buffer): string => String.fromCharCode(...start.filter((byte) => !isControl(byte)));

function binaryType(start: Buffer): string {
  if (isPdf(start)) return 'application/pdf';
  return start[0] === 0x1f && start[1] === 0x8b ? 'application/gzip' : 'application/octet-stream';
}

/** Bytes in which the mark of a PDF must stand (ISO 32000-1, annex H.3, note 13). */
const PDF_START = 1024;
/** Names of parts that tell files of Office Open XML apart (ECMA-376, part 2), and their MIME types. */
const OFFICE_PARTS: readonly (readonly [part: string, type: string])[] = [
  ['word/document', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xl/workbook', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['ppt/presentation', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
];
/** Fields of the first header of a ZIP file (APPNOTE.TXT, 4.3.7): compressed size, lengths of name and extra field. */
const [SIZE, NAME_LENGTH, EXTRA_LENGTH, NAME] = [18, 26, 28, 30];

/** MIME type of a PDF, EPUB or office file by its content; `null`: it is none of these. */
function documentType(body: Uint8Array): string | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.subarray(0, PDF_START).includes('%PDF-')) return 'application/pdf';
  return bytes.toString('latin1', 0, 4) === 'PK\x03\x04' ? zipType(bytes) : null;
}

function zipType(bytes: Buffer): string | null {
  if (bytes.length < NAME) return null;
  const nameEnd = NAME + bytes.readUInt16LE(NAME_LENGTH);
  // OpenDocument and EPUB put their type first, not compressed.
  if (bytes.toString('latin1', NAME, nameEnd) === 'mimetype') {
    const start = nameEnd + bytes.readUInt16LE(EXTRA_LENGTH);
    const type = bytes.toString('latin1', start, start + Math.min(100, bytes.readUInt32LE(SIZE))).trim();
    return /^application\/(?:epub\+zip|vnd\.oasis\.opendocument\.[\w.-]+)$/.test(type) ? type : null;
  }
  // Some programs do not know that rule.
  if (bytes.includes('META-INF/container.xml') && bytes.includes('application/epub+zip')) return 'application/epub+zip';
  if (!bytes.includes('[Content_Types].xml')) return null;
  return OFFICE_PARTS.find(([part]) => bytes.includes(part))?.[1] ?? null;
}

/** The rules by which the charset of a MIME type is detected. */
function markupOf(type: string): 'html' | 'xml' | 'text' {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  return type.endsWith('/xml') || type.endsWith('+xml') ? 'xml' : 'text';
}

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

  /** The encoding by which the body was decoded; `null`: it was not read as text. */
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

/** Of tapes one is for the page as it came, the other for its DOM once a plugin has asked for that. */
const KEPT = 2;

/** What a thread reuses from page to page. Two pages never share a part of it. */
export class PageMemory {
  readonly tapes = new Pool(() => new Tape());
  readonly tables = new Pool(() => new BlockTable());
}

class Pool<Item> {
  private readonly free: Item[] = [];
  private readonly make: () => Item;

  constructor(make: () => Item) {
    this.make = make;
  }

  take(): Item {
    return this.free.pop() ?? this.make();
  }

  giveBack(item: Item): void {
    if (this.free.length < KEPT) this.free.push(item);
  }
}
