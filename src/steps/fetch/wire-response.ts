import type { ResponseHead } from '../../ports/fetch-protocol.ts';
import type { WireResponse } from '../../ports/segment-store.ts';

/**
 * An answer as segments store it. `at`: ms since the epoch; `body`: as it came over the wire, `null` where none was
 * read.
 */
export function wireResponse(
  url: string,
  at: number,
  { httpVersion, status, statusText, rawHeaders, remoteAddress }: ResponseHead,
  body: Uint8Array | null,
  truncated: boolean,
  revisit: WireResponse['revisit'],
): WireResponse {
  return { url, at, httpVersion, status, statusText, rawHeaders, body, truncated, remoteAddress, revisit };
}
