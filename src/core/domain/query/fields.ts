import { changeRateOf } from '../crawl/change/change-rate.ts';
import type { CrawlDatum, MetadataValue } from '../crawl/states/datum.ts';
import { changeSignatureOf } from '../crawl/states/duplicate.ts';
import { hostOf, topLevelDomain } from '../url/canonical/url-key.ts';

/** `time`: ms since the epoch; `duration`: ms; `size`: bytes; `any`: whatever the metadata hold. */
export type FieldType = 'text' | 'number' | 'size' | 'time' | 'duration' | 'boolean' | 'any';

/** A field of a row: of a record, unless said otherwise. */
export interface QueryField<Row = CrawlDatum> {
  readonly name: string;
  readonly type: FieldType;
  /** For the documentation. */
  readonly text: string;
  /** It is read from the stored copy of a page, by `contentOf` of the environment. */
  readonly isOfContent?: true;
  read(row: Row, env: QueryEnvironment): MetadataValue | null;
}

/** The fields of one kind of rows. */
export interface FieldSet<Row> {
  readonly all: readonly QueryField<Row>[];
  /** A field by its name, ignoring case where names do; `undefined` for an unknown one. */
  named(name: string): QueryField<Row> | undefined;
  /** Names beyond those of `all`, for messages. */
  readonly more: string;
  /** What is said of a field that other expressions know; `undefined`: no other does. */
  readonly elsewhere?: (name: string) => string | undefined;
}

/** What a page says of itself beside what its record holds, as its parse output has it. */
export interface PageContent {
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly topics?: readonly string[];
}

/** Values that an expression may use beside the record. */
export interface QueryEnvironment {
  /** Ms since the epoch: what `now` means. */
  readonly now: number;
  /** Registrable domain of a host. */
  readonly domainOf: (host: string) => string;
  /** The stored copy of a page; `null`: it has none. Absent where only records are read. */
  readonly contentOf?: (datum: CrawlDatum) => PageContent | null;
}

const lastVisit = ({ visits }: CrawlDatum) => visits[visits.length - 1];

type Row = readonly [name: string, type: FieldType, text: string, read: QueryField['read']];

const ROWS: readonly Row[] = [
  ['url', 'text', 'canonical URL', (datum) => datum.url],
  ['scheme', 'text', '`http`, `https`', ({ url }) => url.slice(0, url.indexOf(':'))],
  ['host', 'text', 'host, with the port where it is not the default', ({ url }) => hostOf(url)],
  ['domain', 'text', 'registrable domain of the host', ({ url }, env) => env.domainOf(hostOf(url))],
  ['tld', 'text', 'last label of the host', ({ url }) => topLevelDomain(hostOf(url))],
  ['state', 'text', 'state of the last good visit', (datum) => datum.state],
  ['depth', 'number', 'links from a seed', (datum) => datum.depth],
  ['seed', 'boolean', 'injected', (datum) => datum.seed],
  ['score', 'number', 'importance', (datum) => datum.score],
  ['referrer', 'text', 'page with the first link to it', (datum) => datum.referrer],
  ['discoveredAt', 'time', 'when it was found', (datum) => datum.discoveredAt],
  ['lastFetchAt', 'time', 'last answered visit', (datum) => datum.lastFetchAt],
  ['nextFetchAt', 'time', 'when it is due', (datum) => datum.nextFetchAt],
  ['dueBy', 'text', 'what has set that time: `touch`, `retry`, `sitemap`, `seed`, `schedule`', (datum) => datum.dueBy],
  ['changedAt', 'time', 'when a visit last found it changed', (datum) => datum.changedAt],
  ['interval', 'duration', 'revisit interval', (datum) => datum.fixedIntervalMs ?? datum.schedule.intervalMs],
  ['fixedInterval', 'duration', 'interval fixed by the operator', (datum) => datum.fixedIntervalMs],
  ['failures', 'number', 'failed visits in a row', (datum) => datum.failures],
  ['error', 'text', 'code of the last error', (datum) => datum.lastError?.code ?? null],
  ['errorAt', 'time', 'when it happened', (datum) => datum.lastError?.at ?? null],
  ['httpStatus', 'number', 'status of the last answer', (datum) => datum.httpStatus],
  ['contentType', 'text', 'MIME type as sent by the server', (datum) => datum.contentType],
  ['robotsTag', 'text', '`X-Robots-Tag` of the last full answer', (datum) => datum.robotsTag],
  ['contentLength', 'size', 'as declared', (datum) => datum.validators.contentLength],
  ['etag', 'text', 'validator', (datum) => datum.validators.etag],
  ['lastModified', 'text', 'validator, verbatim', (datum) => datum.validators.lastModified],
  ['digest', 'text', 'of the body, 32 hex digits', (datum) => datum.digest],
  [
    'truncated',
    'text',
    'why the stored copy is not whole: `length`, `disconnect`, `unspecified`, `lost`',
    (datum) => datum.truncated,
  ],
  ['rendered', 'boolean', 'a browser made the stored copy', (datum) => datum.rendered !== null],
  ['signature', 'text', '16 hex digits, by which near duplicates are found', (datum) => datum.signature],
  [
    'changeDigest',
    'text',
    '8 hex digits: the exact text that the change signature is made from',
    ({ changeDigest }) => changeDigest,
  ],
  ['changeSignature', 'text', '16 hex digits, by which visits are compared', (datum) => changeSignatureOf(datum)],
  ['textChars', 'number', 'length of the content text, characters', (datum) => datum.textChars],
  ['signatureName', 'text', 'name of the signature algorithm', (datum) => datum.signatureName],
  ['title', 'text', 'title of the page', (datum) => datum.title],
  ['author', 'text', 'authors that the page names, separated by commas', authorsOf],
  ['publishedAt', 'time', 'when the page says that it was published', (datum) => datum.stated?.publishedAt ?? null],
  ['modifiedAt', 'time', 'when the page says that it was last modified', (datum) => datum.stated?.modifiedAt ?? null],
  ['lang', 'text', 'language of the page, declared or guessed', (datum) => datum.stated?.lang ?? null],
  ['target', 'text', 'target of a redirect, or representative of a duplicate', (datum) => datum.target],
  ['visitCount', 'number', 'stored visits', (datum) => datum.visits.length],
  ['changeCount', 'number', 'stored visits that found it changed', changeCount],
  ['changesPerDay', 'number', 'estimated change rate of a page with observed changes', (datum) => changeRateOf(datum)],
  ['outcome', 'text', 'of the last visit', (datum) => lastVisit(datum)?.outcome ?? null],
  [
    'distance',
    'number',
    'Hamming distance found by the last visit, bits',
    (datum) => lastVisit(datum)?.distance ?? null,
  ],
  ['bytes', 'size', 'body bytes of the last visit', (datum) => lastVisit(datum)?.bytes ?? null],
];

function authorsOf({ stated }: CrawlDatum): string | null {
  return stated === null || stated.authors.length === 0 ? null : stated.authors.join(', ');
}

function changeCount({ visits }: CrawlDatum): number {
  let changes = 0;
  for (const { outcome } of visits) if (outcome === 'modified') changes++;
  return changes;
}

export const QUERY_FIELDS: readonly QueryField[] = ROWS.map(([name, type, text, read]) => ({ name, type, text, read }));

const BY_NAME: ReadonlyMap<string, QueryField> = new Map(
  QUERY_FIELDS.map((field) => [field.name.toLowerCase(), field]),
);

export const METADATA_PREFIX = 'metadata.';

/** A field by its name, ignoring case except in the names of metadata; `undefined` for an unknown one. */
export function fieldNamed(name: string): QueryField | undefined {
  if (!name.startsWith(METADATA_PREFIX)) return BY_NAME.get(name.toLowerCase());
  const key = name.slice(METADATA_PREFIX.length);
  if (key === '') return undefined;
  return {
    name,
    type: 'any',
    text: '',
    read: ({ metadata }) => (Object.hasOwn(metadata, key) ? (metadata[key] ?? null) : null),
  };
}

const contentField = (name: string, text: string, of: (content: PageContent) => string | undefined): QueryField => ({
  ...{ name, type: 'text', text, isOfContent: true },
  read: (datum, { contentOf }) => {
    if (contentOf === undefined) throw new TypeError(`${name} is read where there are no stored copies`);
    const content = contentOf(datum);
    return content === null ? null : (of(content) ?? null);
  },
});

/** Fields of stored copies, which records do not hold. */
export const CONTENT_FIELDS: readonly QueryField[] = [
  contentField('description', 'what the page says that it is about', ({ description }) => description),
  contentField('keywords', 'keywords that the page names, separated by commas', ({ keywords }) => keywords?.join(', ')),
  contentField('topics', 'texts of the links that are its content, separated by commas', ({ topics }) =>
    topics?.join(', '),
  ),
];

const contentFieldNamed = (name: string): QueryField | undefined =>
  CONTENT_FIELDS.find((field) => field.name === name.toLowerCase());

/** The fields of a record alone. */
export const RECORD_FIELDS: FieldSet<CrawlDatum> = {
  all: QUERY_FIELDS,
  named: fieldNamed,
  more: ', metadata.NAME',
  elsewhere: (name) =>
    contentFieldNamed(name) &&
    `${name.toLowerCase()} is read from stored pages, by --where of readdb, export, due touch and reparse alone`,
};

/** Those of a record and of the stored copy of its page. */
export const PAGE_FIELDS: FieldSet<CrawlDatum> = {
  all: [...QUERY_FIELDS, ...CONTENT_FIELDS],
  named: (name) => fieldNamed(name) ?? contentFieldNamed(name),
  more: ', metadata.NAME',
};
