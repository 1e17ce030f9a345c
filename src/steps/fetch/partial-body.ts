import { validatorsOf } from '../../domain/crawl/headers/ladder.ts';
import type { Exchange } from '../../ports/fetch-protocol.ts';
import type { WireResponse } from '../../ports/segment-store.ts';
import { costs, type OpenVisit, type VisitResult, wireResponse } from './visit-result.ts';

/** 206: no request asks for a range, so whoever answers by one has not sent the page. */
const PARTIAL_CONTENT = 206;

export function truncationOfBody({ head, truncated, brokenOff }: Exchange): WireResponse['truncated'] {
  if (brokenOff) return 'disconnect';
  if (head.status === PARTIAL_CONTENT) return 'unspecified';
  return truncated && 'length';
}

/** A visit to be retried. What came is stored as evidence, and is no copy of the page. */
export function incomplete(visit: OpenVisit, result: Exchange, truncated: WireResponse['truncated']): VisitResult {
  const { deps, item } = visit;
  const at = deps.clock.now();
  return {
    outcome: {
      kind: 'failed',
      code: 'body-incomplete',
      message: lackOf(result),
      status: result.head.status,
      retryAt: null,
      at,
      ...costs(visit),
    },
    response: wireResponse(item.url, at, result.head, result.wireBody, truncated, null),
    body: null,
    headers: result.head.headers,
    observation: null,
  };
}

function lackOf({ head, bodyBytes, brokenOff }: Exchange): string {
  if (!brokenOff) return `status ${head.status}: a part of the page, which was not requested`;
  const { contentLength } = validatorsOf(head.headers);
  const whole = contentLength !== null && bodyBytes < contentLength ? ` of ${contentLength}` : '';
  return `the body ended too soon, after ${bodyBytes}${whole} bytes`;
}
