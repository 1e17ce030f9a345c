import { join } from 'node:path';
import type { FilePart, ObjectStore } from '../../core/ports/objects/object-store.ts';
import type { SegmentInfo } from '../../core/ports/segment-store.ts';
import { dataKey, type Extent, objectName } from './manifest.ts';

/** The next bytes of a file of a segment. */
export interface Piece<Name extends string = string> {
  readonly name: Name;
  readonly start: number;
  readonly end: number;
}

/** Facts of hosts that are longer than this get an object of their own, because the manifest is replaced often. */
const INLINE_HOSTS_BYTES = 32 << 10;

/** Stores pieces of local files in as few objects as their size allows; resolves with the place of each. */
export async function storePieces<Name extends string>(
  store: ObjectStore,
  { id, folder, partBytes }: { readonly id: string; readonly folder: string; readonly partBytes: number },
  pieces: readonly Piece<Name>[],
): Promise<Map<Name, Extent[]>> {
  const extents = new Map<Name, Extent[]>();
  let parts: FilePart[] = [];
  let object = objectName('records', '.bin');
  let filled = 0;
  const finish = async (): Promise<void> => {
    if (parts.length > 0) await store.put(dataKey(id, object), parts);
    [parts, object, filled] = [[], objectName('records', '.bin'), 0];
  };
  for (const { name, start, end } of pieces) {
    const own: Extent[] = [];
    extents.set(name, own);
    for (let at = start; at < end; ) {
      const bytes = Math.min(end - at, partBytes - filled);
      own.push({ object, offset: filled, bytes });
      parts.push({ file: join(folder, name), start: at, end: at + bytes });
      at += bytes;
      filled += bytes;
      if (filled >= partBytes) await finish();
    }
  }
  await finish();
  return extents;
}

export interface StoredInfo {
  readonly info: SegmentInfo;
  /** As in `SegmentManifest`. */
  readonly hosts: string | null;
}

/**
 * Stores long facts of hosts in an object of their own. @param known texts already stored, with their objects; grows
 */
export async function storeHosts(
  store: ObjectStore,
  info: SegmentInfo,
  known: Map<string, string>,
): Promise<StoredInfo> {
  const text = JSON.stringify(info.hosts);
  if (text.length < INLINE_HOSTS_BYTES) return { info, hosts: null };
  const stored = known.get(text);
  if (stored !== undefined) return { info: { ...info, hosts: {} }, hosts: stored };
  const object = objectName('hosts', '.json');
  await store.put(dataKey(info.id, object), Buffer.from(text));
  known.clear();
  known.set(text, object);
  return { info: { ...info, hosts: {} }, hosts: object };
}
