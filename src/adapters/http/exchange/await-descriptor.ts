import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../../domain/errors.ts';
import type { Exchange, ExchangeRequest } from '../../../ports/fetch-protocol.ts';

/** Pauses before another attempt, ms: the first, and the longest. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/**
 * An exchange that waits for a file descriptor: without one no request was sent, so the host has noticed nothing. The
 * waiting counts for the deadline of the request, and rejects with `system-limit` at its end.
 * @param makeWay closes idle connections, which have descriptors
 */
export async function awaitDescriptor(
  request: ExchangeRequest,
  send: (request: ExchangeRequest) => Promise<Exchange>,
  makeWay: () => void,
): Promise<Exchange> {
  const endsAt = performance.now() + request.timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS, timeoutMs = request.timeoutMs; ; ) {
    try {
      return await send(timeoutMs === request.timeoutMs ? request : { ...request, timeoutMs });
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'system-limit') throw error;
      timeoutMs = Math.ceil(endsAt - performance.now() - pauseMs);
      if (timeoutMs <= 0 || request.signal?.aborted) throw error;
    }
    makeWay();
    await delay(pauseMs);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}
