import { createHash } from 'node:crypto';
import { CrawlError } from '../../../src/core/domain/errors.ts';
import type { Exchange, ExchangeRequest, FetchProtocol, ResponseHead } from '../../../src/core/ports/fetch-protocol.ts';
import type { Fate } from './fate.ts';
import type { PageContent } from './pages.ts';
import type { PolitenessWatch } from './politeness.ts';
import type { VirtualClock } from './virtual-clock.ts';
import type { Answer, SimulatedWorld } from './world.ts';

export interface NetworkDeps {
  readonly world: SimulatedWorld;
  readonly clock: VirtualClock;
  readonly fate: Fate;
  readonly politeness: PolitenessWatch;
}

/** The way to the hosts of a world, beyond the processes that use it. */
export class SimulatedNetwork {
  /** Contents that were sent whole, by the digests that the crawl db keeps of their bodies. */
  readonly sent = new Map<string, PageContent & { readonly url: string }>();
  requests = 0;
  readonly #deps: NetworkDeps;
  /** Requests so far, by URL. */
  readonly #counts = new Map<string, number>();

  constructor(deps: NetworkDeps) {
    this.#deps = deps;
  }

  /** As one process uses it. */
  protocol(): FetchProtocol {
    return {
      schemes: ['http', 'https'],
      exchange: (request) => this.#exchange(request),
      close: async () => {},
    };
  }

  async #exchange(request: ExchangeRequest): Promise<Exchange> {
    const { world, clock, fate, politeness } = this.#deps;
    if (fate.isDown) return never();
    const startedAt = clock.now();
    const nth = this.#counts.get(request.url) ?? 0;
    this.#counts.set(request.url, nth + 1);
    this.requests++;
    const answer = world.answer(request.url, request.headers, startedAt, nth);
    fate.note(`${request.method} ${request.url} -> ${answer.fault ?? answer.status}`);
    const turn = politeness.begin(request.url, startedAt);
    let met: Answer | null = null;
    try {
      return await this.#answered(request, answer, startedAt, () => {
        met = answer;
      });
    } finally {
      if (!fate.isDown) politeness.end(turn, clock.now(), met);
    }
  }

  /** @param onMet called when the head has arrived: a request that was ended before knows nothing of its answer */
  async #answered(request: ExchangeRequest, answer: Answer, startedAt: number, onMet: () => void): Promise<Exchange> {
    const { clock } = this.#deps;
    const { status, fault } = answer;
    const waits = fault === 'stall' || answer.latencyMs > request.timeoutMs ? request.timeoutMs : answer.latencyMs;
    await this.#wait(waits, request.signal);
    if (fault === 'stall') throw new CrawlError('fetch-timeout', 'the host says nothing (simulated)');
    if (fault !== undefined) throw new CrawlError(fault, `${fault} (simulated)`);
    onMet();
    const head: ResponseHead = {
      status,
      statusText: '',
      httpVersion: '1.1',
      headers: answer.headers,
      rawHeaders: Object.entries(answer.headers).flat(),
      remoteAddress: null,
    };
    const isRead = (request.onHead?.(head) ?? (status >= 200 && status <= 299 ? 'read' : 'drop')) === 'read';
    const hasBody = isRead && request.method === 'GET' && status !== 304;
    const headBytes = 200;
    const base = { head, bodyBytes: 0, receivedBytes: headBytes, ms: clock.now() - startedAt };
    if (!hasBody) return { ...base, wireBody: null, body: null, truncated: false };
    const { cutAt, content } = answer;
    const sent = cutAt === undefined ? answer.body : answer.body.subarray(0, cutAt);
    await this.#wait(Math.ceil(sent.length / 50), request.signal);
    const body = new Uint8Array(sent.subarray(0, request.maxBodyBytes));
    const brokenOff = cutAt !== undefined;
    if (content !== undefined && !brokenOff) this.sent.set(digestOf(body), { ...content, url: request.url });
    return {
      ...base,
      wireBody: body,
      body,
      truncated: brokenOff || body.length < sent.length,
      ...(brokenOff && { brokenOff }),
      bodyBytes: body.length,
      receivedBytes: headBytes + body.length,
      ms: clock.now() - startedAt,
    };
  }

  async #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock, fate } = this.#deps;
    try {
      await clock.sleep(ms, signal);
    } catch {
      throw new CrawlError('fetch-aborted', 'aborted (simulated)');
    }
    if (fate.isDown) return never();
  }
}

/** What an ended process waits for. */
const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** As records keep it: the first 128 bits of the SHA-256. */
const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex').slice(0, 32);
