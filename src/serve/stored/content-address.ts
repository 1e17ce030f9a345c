// serve/stored/: stored pages shown as they were, without anything in them that acts.

import type { FoundAddress } from '../../query/pages/stored-copy.ts';

/** Frames within frames that are shown. */
const MAX_DEPTH = 3;
/** Where nothing is stored: an address that no browser asks anybody for. */
const NOWHERE = 'data:,';

export interface ContentAddresses {
  /** How all of them begin. */
  readonly own: string;
  /** A stored response of a page as a document. */
  page(url: string, segment: string): string;
  /** The same as a file to keep. */
  download(url: string, segment: string): string;
  /** What takes the place of addresses in a document that is so many frames deep. */
  within(depth: number): (found: FoundAddress) => string;
}

/**
 * Addresses of stored content. They begin with a secret of this process, which pages of the live view alone tell: a
 * stored page has an origin of its own, which sends no token with its requests, and other sites cannot try them.
 */
export function contentAddresses(key: string): ContentAddresses {
  const own = `/content/${key}/`;
  const address = (kind: string, fields: Readonly<Record<string, string>>): string =>
    `${own}${kind}?${new URLSearchParams(fields)}`;
  return {
    own,
    page: (u, segment) => address('page', { u, segment }),
    download: (u, segment) => address('download', { u, segment }),
    within:
      (depth) =>
      ({ url: u, use, segment, at: time }) => {
        const at = String(time);
        if (use === 'requisite') return segment === null ? NOWHERE : address('file', { u, segment, at });
        const deep = use === 'frame' ? depth + 1 : depth;
        return deep > MAX_DEPTH ? NOWHERE : address('page', { u, at, ...(deep > 0 && { depth: String(deep) }) });
      },
  };
}
