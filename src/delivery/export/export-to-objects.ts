import { readdirSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { openObjects } from '../../cluster/open-object-segments.ts';
import { bucketPlace } from '../../cluster/s3/address.ts';
import type { Config } from '../../core/config/schema.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import { temporaryState } from '../../operations/state/state-copy.ts';
import type { ExportOutlet, ExportQuery, ExportSummary } from './export-pages.ts';

/** Matches the file that lists the files of a folder; it is written once they are all there. */
const LISTS = /(?:^|\/)index\.jsonl$/;

/**
 * An export to `s3://bucket/key`: first to a local file or folder, which is then stored. Each file appears as a whole
 * or not at all. The files of a folder appear one by one after the export has succeeded, its `index.jsonl` last.
 * @param exportTo exports to a local place
 */
export async function exportToObjects(
  config: Config,
  query: ExportQuery,
  outlet: ExportOutlet,
  exportTo: (outlet: ExportOutlet) => Promise<ExportSummary>,
): Promise<ExportSummary> {
  const place = outlet.place as string;
  const { bucket, prefix } = bucketPlace(place);
  const key = prefix.replace(/\/$/, '');
  if (query.dryRun) return { ...(await exportTo(outlet)), place };
  const objects = openObjects(config, `s3://${bucket}`);
  const staging = temporaryState('export');
  const local = join(staging.dir, basename(key) || 'export');
  try {
    // Checked first: a wrong place or wrong credentials show before all pages are read.
    const hasContent = await holds(objects, key);
    const summary = await exportTo({ ...outlet, place: place.endsWith('/') ? local + sep : local });
    requirePages(summary, place, hasContent && outlet.force !== true);
    // Files written in addition to the requested one, such as an index, go beside its object.
    const parent = key.slice(0, key.length - basename(key).length);
    for (const name of filesIn(staging.dir, basename(local), query, place)) {
      outlet.signal?.throwIfAborted();
      const file = join(staging.dir, name);
      const target = key === '' ? name.slice(basename(local).length + 1) : parent + name;
      if (target === '')
        throw new CrawlError('usage-invalid', `${place} names no object: add one, as in ${place}/pages.jsonl`);
      await objects.put(target, [{ file, start: 0, end: statSync(file).size }]);
    }
    return { ...summary, place };
  } catch (error) {
    if (!(error instanceof CrawlError) || !error.message.includes(staging.dir)) throw error;
    throw new CrawlError(error.code, error.message.replaceAll(local, place), { cause: error });
  } finally {
    staging.close();
    await objects.close();
  }
}

async function holds(objects: ObjectStore, key: string): Promise<boolean> {
  for await (const entry of objects.list(key)) {
    if (entry.bytes > 0 && (key === '' || entry.key === key || entry.key.startsWith(`${key}/`))) return true;
  }
  return false;
}

function requirePages({ documents, removed }: ExportSummary, place: string, isKept: boolean): void {
  if (documents + removed > 0 || !isKept) return;
  throw new CrawlError(
    'usage-invalid',
    `no page to export, and ${place} has content: it is left as it is; --force replaces it by an empty export`,
  );
}

/** Names of the staged files, in the order in which they appear in the store. */
function filesIn(dir: string, base: string, query: ExportQuery, place: string): string[] {
  const isFolder = statSync(join(dir, base), { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && query.since !== undefined) {
    const message =
      `--since changes the files of a folder, which ${place} is not: export to a local folder and copy it, or to one ` +
      'file, as with --format jsonl';
    throw new CrawlError('usage-invalid', message);
  }
  const names = (readdirSync(dir, { recursive: true }) as string[])
    .filter((name) => statSync(join(dir, name)).isFile())
    .map((name) => name.split(sep).join('/'));
  const rank = (name: string): number => (LISTS.test(name) ? 2 : name === base ? 0 : 1);
  return names.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
