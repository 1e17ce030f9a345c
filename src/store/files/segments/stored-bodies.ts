import { createHash } from 'node:crypto';
import type { WarcPointer, WireResponse } from '../../../core/ports/segment-store.ts';

/** A shorter body is stored again: the record that refers to another one is hardly shorter. */
const MIN_BYTES = 2_048;
/** Bodies that are remembered, the newest: some 300 bytes each. */
const MAX_BODIES = 4_096;

interface StoredBody {
  readonly url: string;
  readonly at: number;
  readonly place: WarcPointer;
}

/** Where the bodies lie that this process has written to a segment, by digest. */
export class StoredBodies {
  readonly #byDigest = new Map<string, StoredBody>();

  /** The response with the digest of its body, where that may be stored once for several URLs. */
  digested(response: WireResponse): WireResponse {
    if (!isShared(response) || response.bodySha256 !== undefined) return response;
    return { ...response, bodySha256: createHash('sha256').update(response.body!).digest('hex') };
  }

  /** The stored body that a response repeats; `null`: it has to be stored itself. */
  of(response: WireResponse): StoredBody | null {
    return (isShared(response) && this.#byDigest.get(response.bodySha256 ?? '')) || null;
  }

  /** Remembers the place of a response that was stored whole. */
  note(response: WireResponse, place: WarcPointer): void {
    const { bodySha256, url, at } = response;
    if (bodySha256 === undefined || !isShared(response) || this.#byDigest.has(bodySha256)) return;
    this.#byDigest.set(bodySha256, { url, at, place });
    if (this.#byDigest.size <= MAX_BODIES) return;
    const [oldest = ''] = this.#byDigest.keys();
    this.#byDigest.delete(oldest);
  }
}

/** A response as a `revisit` of the one that has its body. */
export const repeatOf = (response: WireResponse, { url, at }: StoredBody): WireResponse => ({
  ...response,
  revisit: 'identical-payload-digest',
  refersToAt: at,
  refersToUrl: url,
});

const isShared = ({ body, revisit, truncated, rendered }: WireResponse): boolean =>
  body !== null && body.length >= MIN_BYTES && revisit === null && truncated === false && rendered === undefined;

/** The records of a response: its own, and that of its body, where this is stored with another response. */
export function placesOf(warc: WarcPointer | null): readonly WarcPointer[] {
  if (warc === null) return [];
  const { body, ...own } = warc;
  return body === undefined ? [own] : [body, own];
}
