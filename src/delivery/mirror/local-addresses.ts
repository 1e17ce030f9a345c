// delivery/mirror/: a folder of a crawl's pages that opens in a browser, refreshed by what has changed.

import { posix } from 'node:path';
import { digestUrl } from '../../core/domain/url/hash/url-digest.ts';
import type { MirrorEntry } from './mirror-entries.ts';

/** Redirects in a row that are followed, as by browsers. */
const MAX_REDIRECTS = 20;

/** The files of a mirror by URL, whatever its kind; a redirect leads to the file of its target, where there is one. */
export function filesByUrl(
  entries: Iterable<Pick<MirrorEntry, 'url' | 'file' | 'target'>>,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const targets = new Map<string, string>();
  for (const { url, file, target } of entries) {
    files.set(url, file);
    if (target !== null) targets.set(url, target);
  }
  for (const url of targets.keys()) {
    let end = url;
    for (let hops = 0; hops < MAX_REDIRECTS && targets.has(end); hops++) end = targets.get(end)!;
    const file = files.get(end);
    if (file !== undefined && !targets.has(end)) files.set(url, file);
  }
  return files;
}

/** The address of one file of a mirror from another: relative, with what has a meaning in addresses encoded. */
export function relativeAddress(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to);
  const encoded = path.split('/').map((name) => encodeURIComponent(name).replace(/%40/g, '@').replace(/%3D/g, '='));
  return encoded.join('/');
}

/** A hash of 32 bits by which a file remembers an address. */
export function addressHash(url: string): number {
  digestUrl(url, words, 0);
  return words[0]!;
}

const words = new Uint32Array(4);
