import type { WireResponse } from '../../ports/segment-store.ts';
import { SHOWN_TYPE } from './visit-rendered.ts';

/** A stored response as its page is parsed and shown: with what a browser made of it, where it was rendered. */
export function shownResponse(response: WireResponse): WireResponse {
  if (response.rendered === undefined) return response;
  const rawHeaders = ['content-type', SHOWN_TYPE];
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    const name = response.rawHeaders[i] as string;
    if (!/^content-(?:type|encoding|length)$/i.test(name)) rawHeaders.push(name, response.rawHeaders[i + 1] as string);
  }
  return { ...response, rawHeaders, body: response.rendered.html };
}
