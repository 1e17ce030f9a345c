// http/robots/: robots.txt (RFC 9309): fetched, parsed, cached and applied.

import { parseRetryAfter } from '../../core/domain/crawl/headers/header-fields.ts';
import { CrawlError, isUnreached } from '../../core/domain/errors.ts';
import { isUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Exchange, FetchProtocol, ResponseHead } from '../../core/ports/fetch-protocol.ts';
import type { NotRequestedCode } from '../../core/ports/robots.ts';
import { MAX_ROBOTS_BYTES, withoutTornLine } from './robots-reader.ts';

/**
 * Text of a robots.txt as received, cut at 500 KiB: UTF-8 as in RFC 9309; UTF-16 with or without a byte order mark;
 * Latin-1 if the bytes are not valid UTF-8, so that their rules still match.
 */
export function decodeRobots(bytes: Uint8Array): string {
  if (bytes.length > MAX_ROBOTS_BYTES) return withoutTornLine(textOf(bytes.subarray(0, MAX_ROBOTS_BYTES), true));
  return textOf(bytes, false);
}

function textOf(data: Uint8Array, isCut: boolean): string {
  const utf16 = utf16Of(data);
  if (utf16 !== null) return new TextDecoder(utf16).decode(data);
  try {
    // A truncated last character is not a fault of the file.
    return new TextDecoder('utf-8', { fatal: true }).decode(data, { stream: isCut });
  } catch {
    return Buffer.from(data).toString('latin1');
  }
}

/** Detected by the byte order mark, or by the zero byte in each of the first two characters: rules begin in ASCII. */
function utf16Of(data: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const [first, second, third, fourth] = data;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first && second === 0 && third && fourth === 0) return 'utf-16le';
  if (first === 0 && second && third === 0 && fourth) return 'utf-16be';
  return null;
}

/** Access result of a robots.txt (RFC 9309 section 2.3.1). */
export type RobotsAccess =
  /** The file. */
  | { readonly kind: 'found'; readonly text: string; readonly status: number }
  /** There is no file: everything is allowed. */
  | { readonly kind: 'none'; readonly status: number }
  /** Unreachable: everything is disallowed for now. `restUntil`: end of a Retry-After, ms since the epoch. */
  | {
      readonly kind: 'unreachable';
      readonly status: number | null;
      readonly reason: string;
      readonly restUntil: number | null;
    }
  /** The origin was not reached, or must not be requested, so robots.txt was not requested. */
  | { readonly kind: 'not-asked'; readonly code: NotRequestedCode; readonly message: string };

interface RobotsTraffic {
  requests: number;
  receivedBytes: number;
}

/** Waits for the host's next turn. */
export type NextTurn = () => Promise<void>;

const MAX_REDIRECTS = 5;
const HEADERS = { accept: 'text/plain,*/*;q=0.8' };

/**
 * Fetches the robots.txt of an origin. Follows up to five redirects, each as an exchange of its own, including those to
 * other hosts; the result counts for the first origin. More redirects, or one without a valid target, count as "none",
 * as RFC 9309 allows. A redirect within the host waits for the host's next turn. Never rejects because of a server or
 * the network; rejects with `system-limit` if this machine has no descriptor for the request.
 */
export async function fetchRobots(
  protocol: FetchProtocol,
  origin: string,
  timeoutMs: number,
  traffic: RobotsTraffic,
  clock: Clock,
  nextTurn: NextTurn,
): Promise<RobotsAccess> {
  let url = `${origin}/robots.txt`;
  for (let hop = 0; ; hop++) {
    const isOwn = hostOf(url) === hostOf(origin);
    if (hop > 0 && isOwn) await nextTurn();
    let exchange: Exchange;
    traffic.requests++;
    try {
      exchange = await protocol.exchange({
        url,
        method: 'GET',
        headers: HEADERS,
        // One byte more than is parsed, so that a cut file differs from one that just fits.
        maxBodyBytes: MAX_ROBOTS_BYTES + 1,
        timeoutMs,
      });
    } catch (error) {
      return answerToFailure(error, hop);
    }
    traffic.receivedBytes += exchange.receivedBytes;
    const { head } = exchange;
    const { status, headers } = head;
    if (status >= 200 && status <= 299) {
      // The missing part might have disallowed the URL.
      if (exchange.brokenOff) {
        return { kind: 'unreachable', status, reason: 'it broke off before its end', restUntil: null };
      }
      if (status === 206) return { kind: 'unreachable', status, reason: 'status 206, a part of it', restUntil: null };
      return { kind: 'found', text: decodeRobots(exchange.body ?? new Uint8Array(0)), status };
    }
    if (status < 300 || status > 399) {
      // A Retry-After from another host does not concern this one.
      return accessOnRefusal(status, isOwn ? pauseByAnswer(head, clock.now()) : null);
    }
    const target = redirectTarget(headers.location, url);
    if (target === null || hop === MAX_REDIRECTS) return { kind: 'none', status };
    url = target;
  }
}

/** 429 means an overloaded server, not one without rules. */
function accessOnRefusal(status: number, restUntil: number | null): RobotsAccess {
  if (status >= 400 && status <= 499 && status !== 429) return { kind: 'none', status };
  return { kind: 'unreachable', status, reason: `status ${status}`, restUntil };
}

function pauseByAnswer({ status, headers }: ResponseHead, now: number): number | null {
  const retryAfter = headers['retry-after'];
  return retryAfter !== undefined && (status === 429 || status === 503) ? parseRetryAfter(retryAfter, now) : null;
}

function answerToFailure(error: unknown, hop: number): RobotsAccess {
  if (!(error instanceof CrawlError) || error.consequence === 'stop-crawl') throw error;
  const { code, message } = error;
  if (hop === 0 && (isUnreached(code) || code === 'address-blocked')) return { kind: 'not-asked', code, message };
  return { kind: 'unreachable', status: null, reason: `${code}: ${message}`, restUntil: null };
}

function redirectTarget(location: string | undefined, base: string): string | null {
  if (location === undefined || !isUrl(location, base)) return null;
  const target = new URL(location, base);
  return target.protocol === 'http:' || target.protocol === 'https:' ? target.href : null;
}
