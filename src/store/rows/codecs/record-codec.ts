import type { ChangeBelief } from '../../../core/domain/crawl/change/change-belief.ts';
import type { RenderedCopy, RenderInput } from '../../../core/domain/crawl/rendering/render-trials.ts';
import {
  type CrawlDatum,
  type CrawlState,
  DUE_CAUSES,
  type DueCause,
  type LastError,
  type MetadataValue,
  NO_VALIDATORS,
  type Visit,
  type VisitOutcome,
} from '../../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import type { StatedFacts } from '../../../page/metadata/page-metadata.ts';
import { pack, unpack } from '../rows.ts';
import { packBlocks, unpackBlocks } from './block-codec.ts';

/**
 * Version of the tuple below, its first element. Every version ever released stays readable: a change of the tuple
 * raises the version and adds a migration from the version before. A field added at the end, `null` in records without
 * it, only raises the format of the db.
 */
export const RECORD_VERSION = 1;

/** Turns the tuple of a version into the tuple of the next one. The index is the version that it reads. */
export type Migration = (tuple: readonly unknown[]) => unknown[];

const MIGRATIONS: Readonly<Record<number, Migration>> = {};

/** Numbers of the states on disk. Append only. */
const STATES = Object.freeze([
  'unfetched',
  'fetched',
  'notmodified',
  'redir_temp',
  'redir_perm',
  'gone',
  'duplicate',
  'orphan',
  'parse_failed',
] as const satisfies readonly CrawlState[]);

export const STATE_COUNT = STATES.length;

const NUMBER_OF_STATE = new Map<CrawlState, number>(STATES.map((state, i) => [state, i]));

export function stateNumber(state: CrawlState): number {
  const number = NUMBER_OF_STATE.get(state);
  if (number === undefined) throw new TypeError(`a crawl state was expected, got "${String(state)}"`);
  return number;
}

export function stateOfNumber(number: unknown): CrawlState {
  const state = STATES[number as number];
  if (state === undefined) throw new TypeError(`no crawl state has the number ${String(number)}`);
  return state;
}

/**
 * Tuple without absent values at its end. Fields that only a visit sets come last, so a new URL takes about 40 bytes.
 */
export function encodeRecord(datum: CrawlDatum): Buffer {
  const { validators, schedule } = datum;
  const tuple = [
    RECORD_VERSION,
    stateNumber(datum.state),
    datum.discoveredAt,
    datum.referrer,
    datum.depth,
    datum.seed,
    datum.score,
    datum.nextFetchAt,
    schedule.intervalMs,
    datum.fixedIntervalMs,
    packMetadata(datum.metadata),
    datum.failures === 0 ? null : datum.failures,
    datum.lastError === null ? null : [datum.lastError.code, datum.lastError.message, datum.lastError.at],
    datum.httpStatus,
    datum.lastFetchAt,
    datum.target,
    datum.contentType,
    datum.changedAt,
    validators.etag,
    validators.lastModified,
    validators.contentLength,
    hexToBytes(datum.digest),
    hexToBytes(datum.signature),
    datum.signatureName,
    datum.title,
    schedule.belief === null ? null : beliefTuple(schedule.belief),
    packVisits(datum.visits),
    datum.textChars,
    packBlocks(datum.blocks),
    datum.robotsTag,
    packStated(datum.stated),
    hexToBytes(datum.changeSignature),
    datum.truncated,
    packRendered(datum.rendered),
    hexToBytes(datum.changeDigest),
    hexToBytes(datum.sketch),
    datum.dueBy === null ? null : DUE_CAUSES.indexOf(datum.dueBy),
  ];
  let length = tuple.length;
  while (tuple[length - 1] === null) length--;
  tuple.length = length;
  return pack(tuple);
}

/**
 * Throws `CrawlError('db-version')` for a record of a newer incrawl, and `CrawlError('db-corrupt')` for bytes that are
 * not a record.
 */
export function decodeRecord(url: string, bytes: Uint8Array, migrations = MIGRATIONS): CrawlDatum {
  try {
    return datumOf(url, migrated(url, unpack(bytes), migrations));
  } catch (cause) {
    if (cause instanceof CrawlError) throw cause;
    throw new CrawlError('db-corrupt', `the record of ${url} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function migrated(url: string, stored: readonly unknown[], migrations: Readonly<Record<number, Migration>>): unknown[] {
  let tuple = stored as unknown[];
  while (tuple[0] !== RECORD_VERSION) {
    const version = tuple[0];
    if (typeof version !== 'number') throw new TypeError('the tuple does not begin with a version');
    if (version > RECORD_VERSION) {
      throw new CrawlError(
        'db-version',
        `the record of ${url} has version ${version}; this incrawl reads versions up to ${RECORD_VERSION}, ` +
          'a newer one is needed',
      );
    }
    const migrate = migrations[version];
    if (migrate === undefined) throw new TypeError(`version ${version} is not known`);
    tuple = migrate(tuple);
    if (tuple[0] !== version + 1)
      throw new TypeError(`the migration from version ${version} led to ${String(tuple[0])}`);
  }
  return tuple;
}

function datumOf(url: string, tuple: readonly unknown[]): CrawlDatum {
  const at = <T>(index: number): T | null => (tuple[index] ?? null) as T | null;
  const always = <T>(index: number): T => {
    if (tuple[index] === undefined) throw new TypeError(`value ${index} of the tuple is missing`);
    return tuple[index] as T;
  };
  const belief = at<BeliefTuple>(25);
  return {
    url,
    state: stateOfNumber(tuple[1]),
    discoveredAt: always(2),
    referrer: at(3),
    depth: always(4),
    seed: always(5),
    score: always(6),
    lastFetchAt: at(14),
    nextFetchAt: at(7),
    dueBy: dueCauseOf(at(36)),
    changedAt: at(17),
    schedule: {
      intervalMs: always(8),
      belief: belief === null ? null : beliefOf(belief),
    },
    fixedIntervalMs: at(9),
    failures: at<number>(11) ?? 0,
    lastError: lastErrorOf(at(12)),
    httpStatus: at(13),
    contentType: at(16),
    robotsTag: at(29),
    validators: tuple.length <= 18 ? NO_VALIDATORS : { etag: at(18), lastModified: at(19), contentLength: at(20) },
    digest: bytesToHex(at(21)),
    truncated: at(32),
    signature: bytesToHex(at(22)),
    changeSignature: bytesToHex(at(31)),
    changeDigest: bytesToHex(at(34)),
    sketch: bytesToHex(at(35)),
    signatureName: at(23),
    title: at(24),
    textChars: at(27),
    stated: unpackStated(at<unknown[]>(30)),
    blocks: unpackBlocks(at<unknown[]>(28)),
    rendered: unpackRendered(at<unknown[]>(33)),
    target: at(15),
    visits: unpackVisits(at<unknown[]>(26)),
    metadata: unpackMetadata(at<unknown[]>(10)),
  };
}

function dueCauseOf(number: number | null): DueCause | null {
  if (number === null) return null;
  const cause = DUE_CAUSES[number];
  if (cause === undefined) throw new TypeError(`nothing that makes pages due has the number ${number}`);
  return cause;
}

export type BeliefTuple = readonly [
  changes: number,
  watchedMs: number,
  noise: number,
  newUrls: number,
  mostMs: number | null,
];

export const beliefTuple = ({ changes, watchedMs, noise, newUrls, mostMs }: ChangeBelief): BeliefTuple => [
  ...([changes, watchedMs, noise, newUrls, mostMs] as const),
];

export const beliefOf = ([changes, watchedMs, noise, newUrls, mostMs]: BeliefTuple): ChangeBelief => ({
  ...{ changes, watchedMs, newUrls, noise, mostMs },
});

function lastErrorOf(tuple: readonly unknown[] | null): LastError | null {
  if (tuple === null) return null;
  const [code, message, at] = tuple;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof at !== 'number')
    throw new TypeError('an error is a code, a message and a time');
  return { code, message, at };
}

/** Language, times in seconds, authors. */
function packStated(stated: StatedFacts | null): unknown[] | null {
  if (stated === null) return null;
  const { authors, publishedAt, modifiedAt, lang } = stated;
  const seconds = (at: number | null): number | null => (at === null ? null : at / 1_000);
  return [lang, seconds(publishedAt), seconds(modifiedAt), ...authors];
}

function unpackStated(tuple: readonly unknown[] | null): StatedFacts | null {
  if (tuple === null) return null;
  const [lang, publishedAt, modifiedAt, ...authors] = tuple as [string | null, number | null, number | null];
  const ms = (seconds: number | null): number | null => (seconds === null ? null : 1_000 * seconds);
  return { authors, publishedAt: ms(publishedAt), modifiedAt: ms(modifiedAt), lang };
}

/** Digest of the static page, then four values per input. */
function packRendered(rendered: RenderedCopy | null): unknown[] | null {
  if (rendered === null) return null;
  const inputs = rendered.inputs.flatMap(({ url, digest, etag, lastModified }) => {
    return [url, hexToBytes(digest), etag, lastModified];
  });
  return [hexToBytes(rendered.digest), ...inputs];
}

function unpackRendered(tuple: readonly unknown[] | null): RenderedCopy | null {
  if (tuple === null) return null;
  const hex = (stored: unknown): string => bytesToHex(stored as Uint8Array) ?? '';
  const inputs: RenderInput[] = [];
  for (let i = 1; i + 3 < tuple.length; i += 4) {
    const [url, digest, etag, lastModified] = tuple.slice(i, i + 4) as [string, unknown, string | null, string | null];
    inputs.push({ url, digest: hex(digest), etag, lastModified });
  }
  return { digest: hex(tuple[0]), inputs };
}

const HEX = /^(?:[0-9a-f]{2})+$/;

/** Halves the size; text that is not lower-case hexadecimal stays as it is. */
function hexToBytes(hex: string | null): Buffer | string | null {
  return hex !== null && HEX.test(hex) ? Buffer.from(hex, 'hex') : hex;
}

function bytesToHex(stored: Uint8Array | string | null): string | null {
  if (stored === null || typeof stored === 'string') return stored;
  return Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString('hex');
}

/** Alternating names and values, not a map: then any name is safe, even `__proto__`. */
function packMetadata(metadata: Readonly<Record<string, MetadataValue>>): unknown[] | null {
  let flat: unknown[] | null = null;
  for (const name of Object.keys(metadata)) {
    flat ??= [];
    flat.push(name, metadata[name]);
  }
  return flat;
}

function unpackMetadata(flat: readonly unknown[] | null): Record<string, MetadataValue> {
  if (flat === null) return {};
  if (flat.length % 2 !== 0) throw new TypeError('a name of the metadata has no value');
  const pairs: [string, MetadataValue][] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as MetadataValue]);
  return Object.fromEntries(pairs);
}

/** Numbers of the outcomes on disk. Append only. */
const OUTCOMES = Object.freeze([
  'new',
  'modified',
  'unchanged-304',
  'unchanged-headers',
  'unchanged-digest',
  'redirect',
  'gone',
  'failed',
  'denied',
  'parse-failed',
] as const satisfies readonly VisitOutcome[]);

const NUMBER_OF_OUTCOME = new Map<VisitOutcome, number>(OUTCOMES.map((outcome, i) => [outcome, i]));

const FIELDS = 6;

/**
 * The ring of visits as one flat list. Small numbers take few bytes, so each time is relative to the one before, and an
 * elapsed time equal to this difference is `true`.
 */
function packVisits(visits: readonly Visit[]): unknown[] | null {
  if (visits.length === 0) return null;
  const flat: unknown[] = [];
  let before = 0;
  for (const visit of visits) {
    const number = NUMBER_OF_OUTCOME.get(visit.outcome);
    if (number === undefined) throw new TypeError(`a visit outcome was expected, got "${String(visit.outcome)}"`);
    const sinceBefore = visit.at - before;
    flat.push(
      sinceBefore,
      number,
      visit.distance,
      visit.elapsedMs === sinceBefore ? true : visit.elapsedMs,
      visit.bytes,
      visit.intervalMs,
    );
    before = visit.at;
  }
  return flat;
}

function unpackVisits(flat: readonly unknown[] | null): Visit[] {
  const visits: Visit[] = [];
  if (flat === null) return visits;
  let before = 0;
  for (let i = 0; i < flat.length; i += FIELDS) {
    const sinceBefore = flat[i] as number;
    const outcome = OUTCOMES[flat[i + 1] as number];
    if (outcome === undefined) throw new TypeError(`no visit outcome has the number ${String(flat[i + 1])}`);
    const elapsed = flat[i + 3] as number | true | null;
    before += sinceBefore;
    visits.push({
      at: before,
      outcome,
      distance: flat[i + 2] as number | null,
      elapsedMs: elapsed === true ? sinceBefore : elapsed,
      bytes: flat[i + 4] as number,
      intervalMs: flat[i + 5] as number,
    });
  }
  return visits;
}
