import { z } from 'zod';
import {
  type CrawlDatum,
  type CrawlState,
  type MetadataValue,
  newDatum,
} from '../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { readDump } from './db-transfer.ts';
import type { DumpLine } from './dump-lines.ts';

/** First line of `readdb -dump -format csv`, and of each of its parts. */
const CSV_HEAD = /^Url,Status code,Status name,/;

/** Whether a first line comes from `nutch readdb CRAWLDB -dump OUT -format json` or `csv` (Apache Nutch 1.x). */
const isNutchDump = (line: string): boolean => CSV_HEAD.test(line) || /^\{"url":/.test(line);

/** A line with a URL that cannot be crawled here. */
export interface SkippedLine {
  readonly line: number;
  readonly url: string;
  readonly reason: string;
}

interface NutchDumpOptions {
  /** Ms since the epoch. */
  readonly now: number;
  readonly onSkipped: (skipped: SkippedLine) => void;
}

/**
 * The records of a Nutch crawl db, from its dump as JSON or CSV. Rejects with `usage-invalid`, naming the line and what
 * was expected; URLs that cannot be crawled are skipped.
 */
async function* readNutchDump(
  lines: AsyncIterable<string>,
  { now, onSkipped }: NutchDumpOptions,
): AsyncGenerator<DumpLine> {
  let [number, records] = [0, 0];
  for await (const text of lines) {
    number++;
    if (text.trim() === '' || CSV_HEAD.test(text)) continue;
    const row = text.startsWith('{') ? jsonRow(text, number) : csvRow(text, number);
    const canonical = canonicalUrl(row.url);
    if ('error' in canonical) {
      onSkipped({ line: number, url: row.url, reason: canonical.error });
      continue;
    }
    records++;
    yield { record: recordOf(row, canonical.url, now, number) };
  }
  yield { end: { records, links: 0, hosts: 0, changes: 0 } };
}

/** CrawlDatum.STATUS_DB_* of Nutch. */
const STATES: ReadonlyMap<number, CrawlState> = new Map([
  [1, 'unfetched'],
  [2, 'fetched'],
  [3, 'gone'],
  [4, 'redir_temp'],
  [5, 'redir_perm'],
  [6, 'notmodified'],
  [7, 'duplicate'],
  [8, 'orphan'],
]);

const row = z.object({
  url: z.string().min(1),
  statusCode: z.number().int(),
  fetchTime: z.string(),
  modifiedTime: z.string(),
  retriesSinceFetch: z.number().int().nonnegative(),
  retryIntervalSeconds: z.number().nonnegative(),
  score: z.number(),
  signature: z.string(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
type Row = z.infer<typeof row>;

function refuse(line: number, what: string): never {
  throw new CrawlError('usage-invalid', `line ${line}: ${what}`);
}

function jsonRow(text: string, line: number): Row {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(line, `a line of JSON from Nutch was expected (${(error as Error).message})`);
  }
  return checked(value, line);
}

function checked(value: unknown, line: number): Row {
  const read = row.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return refuse(line, `${issue?.path.join('.')}: ${issue?.message}`);
}

/** Nutch quotes URL, status, signature and metadata, and escapes nothing in them. */
const CSV_ROW = /^"(.+?)",(\d+),"\w*",([^,]*),([^,]*),(\d+),([^,]+),[^,]+,([^,]+),"(\w*)","(.*)"$/;

function csvRow(text: string, line: number): Row {
  const [whole, url, status, fetchTime, modifiedTime, retries, interval, score, signature, metadata = ''] =
    CSV_ROW.exec(text) ?? [];
  if (whole === undefined) {
    return refuse(
      line,
      'the eleven columns of a Nutch dump were expected: "URL",status,"name",time,time,..,"metadata"',
    );
  }
  const entries = metadata.split('|||').filter((entry) => entry.includes(':'));
  const value = {
    ...{ url, fetchTime, modifiedTime, signature },
    ...{ statusCode: Number(status), retriesSinceFetch: Number(retries) },
    ...{ retryIntervalSeconds: Number(interval), score: Number(score) },
    metadata: Object.fromEntries(
      entries.map((entry) => [entry.slice(0, entry.indexOf(':')), entry.slice(entry.indexOf(':') + 1)]),
    ),
  };
  return checked(value, line);
}

/**
 * A record made from a Nutch record. Nutch keeps the next visit and the interval; the last visit is their difference.
 * Its visits and its depth are unknown.
 */
function recordOf(from: Row, url: string, now: number, line: number): CrawlDatum {
  const state = STATES.get(from.statusCode) ?? refuse(line, `a status of 1 to 8 was expected, got ${from.statusCode}`);
  const dueAt = timeOf('fetchTime', from.fetchTime, line);
  const modifiedAt = timeOf('modifiedTime', from.modifiedTime, line);
  const intervalMs = 1_000 * from.retryIntervalSeconds;
  const isVisited = state !== 'unfetched';
  const lastFetchAt = isVisited ? Math.min(now, dueAt - intervalMs) : null;
  const changedAt = isVisited && modifiedAt > 0 ? modifiedAt : null;
  const { fixedIntervalMs, httpStatus, contentType, target, metadata } = metadataOf(from);
  return {
    ...newDatum({ url, now: Math.min(now, lastFetchAt ?? dueAt, changedAt ?? now), intervalMs, score: from.score }),
    ...{ state, lastFetchAt, nextFetchAt: dueAt, changedAt, fixedIntervalMs, httpStatus, contentType, metadata },
    failures: from.retriesSinceFetch,
    target: state === 'redir_temp' || state === 'redir_perm' ? target : null,
  };
}

function timeOf(field: string, text: string, line: number): number {
  const at = parseJavaDate(text);
  if (at !== null) return at;
  return refuse(
    line,
    `${field}: a time such as "Sun Jan 03 12:59:33 UTC 2027" was expected, got "${text}"; for UTC, run Nutch with TZ=UTC`,
  );
}

/** Nutch metadata keys that have their own field here. */
const [CONTENT_TYPE, STATUS, FIXED_INTERVAL] = ['Content-Type', 'nutch.protocol.code', 'fixedInterval'];
/** ProtocolStatus: `moved(12), lastModified=0: http://target/`. */
const PROTOCOL_STATUS = '_pst_';

function metadataOf({ metadata, signature }: Row) {
  const own: Record<string, MetadataValue> = {};
  for (const [name, value] of Object.entries(metadata)) {
    if (name !== CONTENT_TYPE && name !== STATUS && name !== FIXED_INTERVAL) own[name] = value;
  }
  // A different algorithm: it cannot be compared with any signature of incrawl.
  if (signature !== 'null' && signature !== '') own['nutch.signature'] = signature;
  const [type, status, fixed] = [metadata[CONTENT_TYPE], metadata[STATUS], metadata[FIXED_INTERVAL]];
  const moved = canonicalUrl(/: (\S+)$/.exec(String(metadata[PROTOCOL_STATUS] ?? ''))?.[1] ?? '');
  return {
    contentType: type === undefined ? null : String(type),
    httpStatus: Number.isInteger(Number(status)) ? Number(status) : null,
    fixedIntervalMs: Number(fixed) > 0 ? 1_000 * Number(fixed) : null,
    target: 'url' in moved ? moved.url : null,
    metadata: own,
  };
}

/** Lines of an incrawl export or a Nutch dump, recognised by the first line. */
export async function* readAnyDump(lines: AsyncIterable<string>, options: NutchDumpOptions): AsyncGenerator<DumpLine> {
  const source = lines[Symbol.asyncIterator]();
  const first = await source.next();
  async function* all(): AsyncGenerator<string> {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => source };
  }
  try {
    yield* !first.done && isNutchDump(first.value) ? readNutchDump(all(), options) : readDump(all());
  } finally {
    await source.return?.();
  }
}

/** Hours ahead of UTC, for names with a single offset. CST is Chicago and Shanghai, PST Los Angeles and Manila. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['Z', 0],
  ['WEST', 1],
  ['CET', 1],
  ['CEST', 2],
  ['EET', 2],
  ['EEST', 3],
  ['MSK', 3],
  ['JST', 9],
  ['KST', 9],
  ['EST', -5],
  ['EDT', -4],
  ['CDT', -5],
  ['MST', -7],
  ['MDT', -6],
  ['PDT', -7],
]);

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DATE = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{2}) (\d{2}):(\d{2}):(\d{2}) (\S+) (\d{4,})$/;
const OFFSET = /^GMT([+-])(\d{1,2}):(\d{2})$/;

/**
 * A time as `java.util.Date.toString` writes it (`Sun Jan 03 12:59:33 UTC 2027`), ms since the epoch; `null` for any
 * other text, and for a zone whose name has several offsets.
 */
export function parseJavaDate(text: string): number | null {
  const [whole, name = '', day, hour, minute, second, zone = '', year] = DATE.exec(text) ?? [];
  const [month, offset] = [MONTHS.indexOf(name), offsetMinutes(zone)];
  if (whole === undefined || month < 0 || offset === null) return null;
  const at = Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second));
  return at - offset * 60_000;
}

function offsetMinutes(zone: string): number | null {
  const [whole, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (whole !== undefined) return (sign === '-' ? -1 : 1) * (60 * Number(hours) + Number(minutes));
  const ahead = ZONES.get(zone);
  return ahead === undefined ? null : 60 * ahead;
}
