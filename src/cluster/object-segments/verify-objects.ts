import { CrawlError } from '../../core/domain/errors.ts';
import type { Report } from '../../core/ports/crawl-db.ts';
import type { ObjectStore } from '../../core/ports/objects/object-store.ts';
import type { SegmentInfo } from '../../core/ports/segment-store.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { dataKey, idOfManifest, MANIFESTS, manifestKey, type SegmentManifest } from './manifest.ts';
import { readManifest } from './manifest-holder.ts';
import { RemoteSegment } from './remote-segment.ts';

/**
 * Checks that each segment has all objects that its manifest names, in their right length. `deep`: also reads every
 * record and stored response. Returns the segments that can be read.
 */
export async function verifyObjectSegments(
  objects: ObjectStore,
  deep: boolean,
  report: Report,
  onWork?: OnWork,
): Promise<SegmentInfo[]> {
  const ids: string[] = [];
  for await (const { key } of objects.list(MANIFESTS)) {
    const id = idOfManifest(key);
    if (id !== null) ids.push(id);
  }
  const infos: SegmentInfo[] = [];
  for (const [done, id] of ids.entries()) {
    onWork?.({ work: 'checking segments', done, total: ids.length });
    try {
      const read = await readManifest(objects, id);
      if (read === null) continue;
      const isWhole = await hasObjects(objects, read.manifest, report);
      if (isWhole && deep) await readAll(objects, read.manifest, report);
      infos.push(read.manifest.info);
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'segment-corrupt') throw error;
      report({ kind: 'segment-unreadable', subject: `${objects.name}/${manifestKey(id)}`, detail: error.message });
    }
  }
  return infos;
}

async function hasObjects(objects: ObjectStore, manifest: SegmentManifest, report: Report): Promise<boolean> {
  const { id } = manifest.info;
  const sizes = new Map<string, number>();
  const folder = dataKey(id, '');
  for await (const { key, bytes } of objects.list(folder)) sizes.set(key.slice(folder.length), bytes);
  const ends = new Map<string, number>();
  const need = (object: string, end: number): void => void ends.set(object, Math.max(end, ends.get(object) ?? 0));
  for (const { object, offset, bytes } of Object.values(manifest.files).flat()) need(object, offset + bytes);
  for (const { object, bytes } of Object.values(manifest.warc)) need(object, bytes);
  if (manifest.hosts !== null) need(manifest.hosts, 1);
  let isWhole = true;
  for (const [object, end] of ends) {
    const bytes = sizes.get(object);
    if (bytes !== undefined && bytes >= end) continue;
    isWhole = false;
    const detail = bytes === undefined ? 'the object is missing' : `it has ${bytes} bytes of at least ${end}`;
    const kind = object.endsWith('.warc.gz') ? 'warc-damaged' : 'segment-unreadable';
    report({ kind, subject: `${objects.name}/${dataKey(id, object)}`, detail });
  }
  return isWhole;
}

async function readAll(objects: ObjectStore, manifest: SegmentManifest, report: Report): Promise<void> {
  const segment = await RemoteSegment.open(objects, manifest);
  for await (const _ of segment.fetchList());
  for await (const { warc } of segment.fetched()) {
    if (warc === null) continue;
    try {
      await segment.readResponse(warc);
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'segment-corrupt') throw error;
      const object = manifest.warc[warc.file]?.object ?? warc.file;
      report({
        kind: 'warc-damaged',
        subject: `${objects.name}/${dataKey(manifest.info.id, object)}`,
        detail: error.message,
      });
    }
  }
  for await (const _ of segment.parsed({ texts: false }));
}
