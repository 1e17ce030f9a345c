import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import { replaceFile } from '../../store/files/durable-file.ts';

/** `object-store.json` in a state directory whose segments lie in an object store. */
export interface SegmentsMark {
  /** The same in the object store, so that no crawl takes the segments of another for its own. */
  readonly id: string;
  /** `segments.store` at the time. */
  readonly place: string;
  /** The directory is a copy, for a dry run: nothing is stored or removed. */
  readonly isDry?: true;
}

/** `segments.store` in the form in which it is compared; empty: the state directory. */
export const segmentsPlace = ({ segments }: Pick<Config, 'segments'>): string => segments.store.replace(/\/+$/, '');

export const SEGMENTS_MARK = 'object-store.json';
/** The object that names the crawl. */
const OWNER = 'crawl.json';

/** `null`: the segments, if there are any, are in the directory. */
export function readSegmentsMark(dir: string): SegmentsMark | null {
  const file = join(dir, SEGMENTS_MARK);
  if (!existsSync(file)) return null;
  try {
    const { id, place, isDry } = JSON.parse(readFileSync(file, 'utf8')) as Partial<SegmentsMark>;
    if (typeof id === 'string' && typeof place === 'string') return { id, place, ...(isDry && { isDry }) };
  } catch (cause) {
    throw new CrawlError('db-corrupt', `${file} cannot be read`, { cause });
  }
  throw new CrawlError('db-corrupt', `${file} names no crawl and place`);
}

/** Marks a copy of a state directory: writes to its segments stay in it. */
export function markDryCopy(from: string, to: string): void {
  const { id, place } = readSegmentsMark(from) ?? { id: '', place: '' };
  replaceFile(join(to, SEGMENTS_MARK), `${JSON.stringify({ id, place, isDry: true })}\n`);
}

/** Rejects state directories whose segments are in an object store, for commands that work on their files. */
export function refuseStoredSegments(dir: string, what: string): void {
  const mark = readSegmentsMark(dir);
  if (mark === null || mark.id === '') return;
  const message = `the segments of ${dir} are in ${mark.place}; ${what} works on segments in the state directory`;
  throw new CrawlError('usage-invalid', message);
}

/**
 * Rejects if the place holds the segments of another crawl, or holds none of this crawl although its segments were
 * stored there: recovery would take them for lost.
 * @param crawlId of a crawl that several directories work on; empty: the directory is the crawl
 */
export async function checkOwner(dir: string, objects: ObjectStore, crawlId = ''): Promise<void> {
  const mark = readSegmentsMark(dir);
  const own = mark?.id || crawlId;
  const id = await ownerOf(objects);
  // An emptied place is like a deleted folder. Without a mark, nothing was stored from this directory.
  if (id === own || (id === '' && (mark === null || mark.place === objects.name))) return;
  if (id === '') {
    const message = `${objects.name} holds no segments of this crawl, which are in ${mark?.place}: set segments.store to it`;
    throw new CrawlError('config-invalid', message);
  }
  const message =
    `${objects.name} holds the segments of another crawl than that of ${dir}: each needs a prefix of its own ` +
    '(segments.store)';
  throw new CrawlError('config-invalid', message);
}

/** The id of the crawl that a place belongs to; empty: none. */
async function ownerOf(objects: ObjectStore): Promise<string> {
  const stored = await objects.get(OWNER);
  return stored === null ? '' : String((JSON.parse(stored.bytes.toString('utf8')) as { id?: unknown }).id);
}

/**
 * Makes the place that of this crawl if necessary. Rejects as {@link checkOwner} does, and if the store is not capable
 * of it.
 */
export async function takeOwnership(dir: string, objects: ObjectStore, crawlId = ''): Promise<void> {
  const mark = readSegmentsMark(dir);
  const taken = await ownerOf(objects);
  const owner = (id: string): Buffer => Buffer.from(`${JSON.stringify({ format: 1, id })}\n`);
  if (mark === null) {
    const id = crawlId || randomUUID();
    if (taken === '') await requireConditions(objects);
    // The directory first: a place claimed for a crawl that does not know of it could not be used again.
    if (taken === '' || taken === id) {
      replaceFile(join(dir, SEGMENTS_MARK), `${JSON.stringify({ id, place: objects.name })}\n`);
    }
    if (taken === '') await objects.put(OWNER, owner(id), 'new');
  } else if (mark.place === objects.name && taken === '') {
    await objects.put(OWNER, owner(mark.id), 'new');
  }
  await checkOwner(dir, objects, crawlId);
}

/** Some services ignore conditional requests: two writers would then overwrite each other's segments. */
async function requireConditions(objects: ObjectStore): Promise<void> {
  // Other processes of the crawl may probe at the same time.
  const probe = `conditions-probe-${randomUUID()}`;
  await objects.put(probe, Buffer.from('1'));
  const again = await objects.put(probe, Buffer.from('2'), 'new');
  const other = await objects.put(probe, Buffer.from('3'), { etag: '"00000000000000000000000000000000"' });
  await objects.remove([probe]);
  if (again === null && other === null) return;
  throw new CrawlError(
    'object-store-refused',
    `${objects.name} ignores the conditions of writes (If-None-Match, If-Match), without which segments are not safe ` +
      'there: use a service or a version that obeys them',
  );
}
