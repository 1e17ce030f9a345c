// core/steps/records/: records found, counted and put in order.

import { closestName } from '../../domain/closest-name.ts';
import type { CrawlDatum, CrawlState } from '../../domain/crawl/states/datum.ts';
import { CrawlError } from '../../domain/errors.ts';
import { type Expression, type Matches, matcherOf, narrowingOf } from '../../domain/query/expression.ts';
import { fieldNamed, QUERY_FIELDS, type QueryEnvironment, type QueryField } from '../../domain/query/fields.ts';
import { parseExpression, parsePageExpression } from '../../domain/query/parse.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry, IndexName, ReadMeter, ScanQuery } from '../../ports/crawl-db.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { READING_DUE, READING_RECORDS } from '../work-meter.ts';
import { highestScores, type Order, sampled, sampleOfHosts, sortedHead } from './sorted-head.ts';

/** Conditions on records; a record must meet all of them. */
export interface RecordQuery {
  /** `host[:port]` */
  readonly host?: string;
  /** This domain and the hosts below it. */
  readonly domain?: string;
  readonly status?: CrawlState;
  /** URLs that begin with this; scheme and host must be complete. */
  readonly prefix?: string;
  /** Content type as {@link ofType} reads it: `application/pdf`, `image/`, `pdf`. */
  readonly type?: string;
  /** At least this many failed visits in a row. */
  readonly failures?: number;
  /** An expression over the fields of a record; see `parseExpression`. */
  readonly where?: string;
  /** URLs that have been due for at least this long, ms, in the order of their due time. Leased URLs are not due. */
  readonly dueForMs?: number;
  /** Size of a random sample, in which every record has the same chance. */
  readonly sample?: number;
  /** Field to sort by, with `:desc` or `:asc`. */
  readonly sort?: string;
  readonly limit?: number;
}

const EVERYTHING = 'everything';

export interface QueryReport {
  /** The index that was read; `records`: the records themselves, all of the range. */
  readonly index: IndexName;
  /** The part of the index that was read: a host, a domain, a prefix, or everything. */
  readonly range: string;
  /** Rows read, of the index or of the records. */
  readonly rowsRead: number;
  /** Records returned. */
  readonly returned: number;
}

export interface FindDeps extends QueryEnvironment {
  readonly db: Pick<
    CrawlDb,
    'scan' | 'spread' | 'due' | 'getMany' | 'changing' | 'counters' | 'hosts' | 'hostRows' | 'recordsAtPlaces'
  >;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onWork?: OnWork | undefined;
  /** An expression as a predicate that may need the stored copies of pages; absent: expressions are of records. */
  readonly matchesOf?: (expression: Expression) => Promise<Matches>;
}

/**
 * Records by any conditions, from the index that reads the fewest rows. Throws `usage-invalid` for an invalid query.
 */
export async function* findRecords(
  deps: FindDeps,
  query: RecordQuery,
): AsyncGenerator<CrawlDatum, QueryReport, undefined> {
  const meter = new Meter(deps.onWork);
  const expression = conditionsOf(query, deps.now);
  const matches =
    expression === null ? () => true : await (deps.matchesOf?.(expression) ?? matcherOf(expression, deps));
  const found = foundBy(deps, query, { expression, matches }, meter);
  if (found.index === 'records' && found.range === EVERYTHING) meter.total = (await deps.db.counters()).urls;
  let returned = 0;
  for await (const datum of found.data) {
    returned++;
    yield datum;
  }
  const { index, rows: rowsRead } = meter;
  return { index: index ?? found.index, range: found.range, rowsRead, returned };
}

/** Entries of the due index that are due at a given time. */
export async function* dueEntries(
  db: Pick<CrawlDb, 'due'>,
  until: number,
  limit = Number.POSITIVE_INFINITY,
  onWork?: OnWork,
): AsyncGenerator<DueEntry, QueryReport, undefined> {
  const meter = new Meter(onWork);
  let returned = 0;
  for await (const entry of db.due({ until, ...(Number.isFinite(limit) ? { limit } : {}), meter })) {
    returned++;
    yield entry;
  }
  return { index: 'due', range: EVERYTHING, rowsRead: meter.rows, returned };
}

interface Found {
  readonly data: AsyncIterable<CrawlDatum>;
  /** The index to report where nothing was read. */
  readonly index: IndexName;
  readonly range: string;
}

/** The conditions of a query, and whether a record meets those of its expression. */
interface Conditions {
  readonly expression: Expression | null;
  readonly matches: Matches;
}

function foundBy(
  deps: FindDeps,
  query: RecordQuery,
  { expression, matches: ofRecord }: Conditions,
  meter: Meter,
): Found {
  const { limit = Number.POSITIVE_INFINITY, sample, dueForMs } = query;
  const order = query.sort === undefined ? null : orderOf(query.sort, deps);
  if (sample !== undefined && order !== null) {
    throw new CrawlError('usage-invalid', 'a sample cannot be sorted: leave out the sort, or the sample');
  }
  const scan = scanOf(query, expression, meter);
  const range = rangeOf(scan);
  const matches = matcherFor(query, ofRecord);
  if (dueForMs !== undefined) {
    const data = dueRecords(
      deps,
      { ...query, dueForMs },
      scan,
      matches,
      order === null && sample === undefined ? limit : Number.POSITIVE_INFINITY,
      meter,
    );
    return {
      data: order === null ? drawn(data, sample, limit, deps.random) : sortedHead(data, order, limit),
      index: 'due',
      range,
    };
  }
  if (
    order?.field.name === 'changesPerDay' &&
    order.isDescending &&
    isOfHosts(query, expression) &&
    Number.isFinite(limit)
  ) {
    return { data: deps.db.changing({ ...hostsOf(scan), limit, meter }), index: 'changing', range };
  }
  if (sample !== undefined && isOfHosts(query, expression)) {
    return { data: sampleOfHosts(deps, hostsOf(scan), Math.min(sample, limit), meter), index: 'hosts', range };
  }
  if (order?.field.name === 'score' && order.isDescending && isOfAll(query, expression) && Number.isFinite(limit)) {
    return { data: highestScores(deps.db, limit, meter), index: 'records', range };
  }
  const isExact = expression === null && (query.failures ?? 0) <= 1;
  const isCut = isExact && order === null && sample === undefined && Number.isFinite(limit);
  const data = matching(deps.db.scan(isCut ? { ...scan, limit } : scan), matches);
  return {
    data: order === null ? drawn(data, sample, limit, deps.random) : sortedHead(data, order, limit),
    index: 'records',
    range,
  };
}

/** The conditions of a query that no key or counter answers; `null`: there are none. */
function conditionsOf({ where, type }: RecordQuery, now: number): Expression | null {
  const asked = where === undefined ? null : parsePageExpression(where, now);
  if (type === undefined) return asked;
  const typed = parseExpression(ofType(type), now);
  return asked === null ? typed : { kind: 'and', left: asked, right: typed };
}

/** A MIME type, whatever its parameters; a group of types (`image/`); else types with that text in them (`pdf`). */
function ofType(type: string): string {
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  if (!type.includes('/')) return `contentType ~ ${quoted(type)}`;
  if (type.endsWith('/')) return `contentType like ${quoted(`${type}*`)}`;
  return `contentType = ${quoted(type)} or contentType like ${quoted(`${type};*`)}`;
}

/** The part of a query and its expression that the crawl db evaluates itself. */
function scanOf(query: RecordQuery, expression: Expression | null, meter: ReadMeter): ScanQuery {
  const { host, domain, status, prefix, failures = 0 } = query;
  const { state, ...narrowed } = narrowingOf(expression);
  return {
    ...narrowed,
    ...(state === undefined ? {} : { state }),
    ...(host === undefined ? {} : { host }),
    ...(domain === undefined ? {} : { domain }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(status === undefined ? {} : { state: status }),
    ...(failures > 0 ? { failing: true } : {}),
    meter,
  };
}

function rangeOf({ host, domain, prefix }: ScanQuery): string {
  const parts = [host && `host ${host}`, domain && `domain ${domain}`, prefix && `URLs from ${prefix}`];
  return parts.filter((part) => part !== undefined && part !== '').join(', ') || EVERYTHING;
}

/** Whether all conditions of a query are on hosts, so that an index by host answers it. */
function isOfHosts(query: RecordQuery, expression: Expression | null): boolean {
  const { status, prefix, failures = 0 } = query;
  return expression === null && status === undefined && prefix === undefined && failures === 0;
}

const isOfAll = (query: RecordQuery, expression: Expression | null): boolean =>
  isOfHosts(query, expression) && query.host === undefined && query.domain === undefined;

function hostsOf({ host, domain }: ScanQuery): { host?: string; domain?: string } {
  return { ...(host === undefined ? {} : { host }), ...(domain === undefined ? {} : { domain }) };
}

function matcherFor({ failures = 0 }: RecordQuery, matches: Matches): Matches {
  return failures > 0 ? (datum) => datum.failures >= failures && matches(datum) : matches;
}

async function* matching(data: AsyncIterable<CrawlDatum>, matches: Matches): AsyncGenerator<CrawlDatum> {
  for await (const datum of data) if (matches(datum)) yield datum;
}

/** Due entries whose records are looked up at a time. */
const DUE_WINDOW = 500;

/** In the order of the due index, whose entries exclude most URLs before their records are read. */
async function* dueRecords(
  { db, now }: FindDeps,
  { dueForMs }: { readonly dueForMs: number },
  scan: ScanQuery,
  matches: Matches,
  limit: number,
  meter: ReadMeter,
): AsyncGenerator<CrawlDatum> {
  const { host, domain, prefix, state, failing = false } = scan;
  let left = limit;
  let urls: string[] = [];
  const isOfDomain = (url: string): boolean => {
    const name = hostOf(url).replace(/:\d+$/, '');
    return domain === undefined || name === domain || name.endsWith(`.${domain}`);
  };
  const look = async (): Promise<CrawlDatum[]> => {
    const records = await db.getMany(urls);
    urls = [];
    return records.filter((datum) => datum !== undefined && matches(datum)) as CrawlDatum[];
  };
  for await (const entry of db.due({ until: now - dueForMs, meter })) {
    if (left <= 0) return;
    if (host !== undefined && hostOf(entry.url) !== host) continue;
    if (!isOfDomain(entry.url) || (prefix !== undefined && !entry.url.startsWith(prefix))) continue;
    if ((state !== undefined && entry.state !== state) || (failing && entry.failures === 0)) continue;
    urls.push(entry.url);
    if (urls.length < Math.min(DUE_WINDOW, left)) continue;
    for (const datum of await look()) {
      if (left-- <= 0) return;
      yield datum;
    }
  }
  for (const datum of await look()) {
    if (left-- <= 0) return;
    yield datum;
  }
}

/** A sample of the given size, or all, up to the limit. */
async function* drawn(
  data: AsyncIterable<CrawlDatum>,
  size: number | undefined,
  limit: number,
  random: () => number,
): AsyncGenerator<CrawlDatum> {
  let left = limit;
  if (left <= 0) return;
  for await (const datum of size === undefined ? data : sampled(data, Math.min(size, limit), random)) {
    yield datum;
    if (--left <= 0) return;
  }
}

/** `score:desc`; without a direction the smallest first. */
export function orderOf(text: string, env: QueryEnvironment): Order {
  const [, name = '', direction] = /^(.*?)(?::(asc|desc))?$/.exec(text) ?? [];
  return { field: requireField('sort', name), isDescending: direction === 'desc', env };
}

/** Throws `usage-invalid` for an unknown name, with the field that was probably meant. */
export function requireField(option: string, name: string): QueryField {
  const field = fieldNamed(name);
  if (field !== undefined) return field;
  const names = QUERY_FIELDS.map((each) => each.name);
  const guess = closestName(name, names);
  const hint = guess === undefined ? `known are ${names.join(', ')}, metadata.NAME` : `did you mean ${guess}?`;
  throw new CrawlError('usage-invalid', `${option}: there is no field "${name}"; ${hint}`);
}

const READING: Readonly<Record<IndexName, string>> = {
  records: READING_RECORDS,
  due: READING_DUE,
  state: 'reading records of a state',
  failing: 'reading failing pages',
  changing: 'reading changing pages',
  hosts: 'reading the counts of hosts',
};

class Meter implements ReadMeter {
  index: IndexName | null = null;
  rows = 0;
  /** Records in all, where the query reads all of them. */
  total: number | null = null;
  readonly #onWork: OnWork | undefined;

  constructor(onWork: OnWork | undefined) {
    this.#onWork = onWork;
  }

  add(index: IndexName, rows: number): void {
    this.index = index;
    this.rows += rows;
    this.#onWork?.({ work: READING[index], done: this.rows, total: index === 'records' ? this.total : null });
  }
}
