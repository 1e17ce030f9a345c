import { conditionalHeaders } from '../../domain/crawl/headers/ladder.ts';
import { keptInputs, type RenderInput } from '../../domain/crawl/rendering/render-trials.ts';
import { CrawlError } from '../../domain/errors.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { Exchange } from '../../ports/fetch-protocol.ts';
import type { SubAnswer, SubRequest } from '../../ports/rendering/page-renderer.ts';
import { pauseByAnswer, type VisitOptions } from '../fetch/visit-result.ts';
import { type PageAnswer, type Resource, resourceOf, type WithRendering } from './rendering.ts';

const MAX_REDIRECTS = 5;
/** Pause of a host that throttles and names no time, ms. */
const REST_MS = 60_000;
const DATA_TYPES: ReadonlySet<string> = new Set(['xhr', 'fetch']);
/** What a page needs to be shown even where it is rendered without. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(['image', 'media', 'font', 'texttrack']);
/** URLs of one page that are noted; a page with more is hostile. */
const MAX_NEEDED = 2_000;

/** Fields that the crawler sets itself, that name a browser, or that say more of the crawl than a server needs. */
const OWN_FIELDS =
  /^(?:user-agent|accept-encoding|accept-language|cookie|referer|host|connection|sec-.*|upgrade-.*|content-.*|cache-control|pragma|if-.*|range|te|dnt|expect|proxy-.*|purpose|x-client-data)$/;

/**
 * The requests of one page, sent as the crawler sends its own: by the same transport, with its address guard, its
 * proxies, credentials and name, and within robots.txt. They are only GET and HEAD: a crawler reads.
 */
export class SubRequests {
  /** Requests sent; bytes received. */
  requests = 0;
  bodyBytes = 0;
  receivedBytes = 0;
  /** Requests that were not sent, by reason. */
  readonly refused = new Map<string, number>();
  readonly #deps: WithRendering;
  readonly #options: VisitOptions;
  readonly #page: { readonly url: string; readonly host: string };
  /** What this visit has fetched: a check of the inputs and the render after it ask for the same data. */
  readonly #own = new Map<string, Resource>();
  readonly #inputs = new Map<string, RenderInput & { readonly isData: boolean }>();
  readonly #needed = new Set<string>();
  #keeping: Promise<void> = Promise.resolve();
  #bytes = 0;
  readonly #over = new AbortController();

  constructor(deps: WithRendering, options: VisitOptions, page: { readonly url: string; readonly host: string }) {
    this.#deps = deps;
    this.#options = options;
    this.#page = page;
  }

  /** What the page was made from, so far as it is kept. */
  get inputs(): RenderInput[] {
    return keptInputs([...this.#inputs.values()]);
  }

  /** URLs that the page needs to be shown, as far as its requests tell; empty where answers are not kept. */
  get needed(): readonly string[] {
    return [...this.#needed];
  }

  /** Resolves once all answers that are to be kept have been. */
  kept(): Promise<void> {
    return this.#keeping;
  }

  /** `null`: the request is refused, or was not answered. */
  async answer(request: SubRequest): Promise<SubAnswer | null> {
    const url = sendable(request.url);
    const refusal = url === null ? 'scheme' : this.#refusal(url, request);
    if (url === null || refusal !== null) {
      if (url !== null && SHOWN_TYPES.has(refusal ?? '')) this.#need(url, request);
      return this.#refuse(refusal ?? 'scheme');
    }
    try {
      const resource = await this.#resource(url, request);
      if (typeof resource === 'string') return this.#refuse(resource);
      if (!this.#mayRead(url, request, resource)) return this.#refuse('CORS');
      this.#note(url, request, resource);
      if (isKeepable(request.headers) && !isStream(resource.headers)) this.#need(url, request);
      return resource;
    } catch (error) {
      if (!(error instanceof CrawlError) || error.consequence === 'stop-crawl') throw error;
      return this.#refuse(error.code);
    }
  }

  /**
   * Whether an input of the last render is as it was, by a request that is conditional where the server has given
   * validators. Rejects with a `CrawlError` where the server cannot say.
   */
  async isSame(input: RenderInput): Promise<boolean> {
    const { url } = input;
    const request: SubRequest = { url, method: 'GET', type: 'fetch', headers: {} };
    if (this.#refusal(url, request) !== null) return false;
    const { cache } = this.#deps.rendering;
    const now = this.#deps.clock.now();
    if (cache.isConfirmed(url, input.digest, now)) return this.#keep(input);
    const known = cache.get(url, now);
    if (known !== undefined) return this.#keepIfSame(input, known);
    const conditions = conditionalHeaders({ ...input, contentLength: null });
    const answer = await this.#followed(url, request, conditions, input.digest);
    if (typeof answer === 'string') return false;
    const { head } = answer;
    if (head.status === 304) return this.#keep(input);
    if (head.status >= 500 || head.status === 429) {
      throw new CrawlError('http-server-error', `data of the page failed: ${url} answered status ${head.status}`);
    }
    const resource = this.#resourceOf(answer);
    this.#own.set(url, resource);
    // Most inputs are data, but a script that was requested again serves the other pages, too.
    if (/javascript/.test(resource.headers['content-type'] ?? '')) {
      cache.keep(url, 'script', resource, now);
    }
    return this.#keepIfSame(input, resource);
  }

  /** Ends the requests that are under way: the page is done with. */
  end(): void {
    this.#over.abort(new CrawlError('fetch-aborted', 'the page was rendered before the answer came'));
  }

  /** The costs of the visit with those of these requests. */
  withCosts<Outcome extends { requests: number; bodyBytes: number; receivedBytes: number }>(outcome: Outcome): Outcome {
    return {
      ...outcome,
      requests: outcome.requests + this.requests,
      bodyBytes: outcome.bodyBytes + this.bodyBytes,
      receivedBytes: outcome.receivedBytes + this.receivedBytes,
    };
  }

  #keepIfSame(input: RenderInput, { status, digest, validators }: Resource): boolean {
    if (status !== 200 || digest !== input.digest) return false;
    const { etag, lastModified } = validators;
    return this.#keep({ url: input.url, digest, etag, lastModified });
  }

  #keep(input: RenderInput): true {
    const { rendering, clock } = this.#deps;
    rendering.cache.confirm(input.url, input.digest, clock.now());
    this.#inputs.set(input.url, { ...input, isData: true });
    return true;
  }

  #refuse(reason: string): null {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
    return null;
  }

  #refusal(url: string, { method, type, headers }: SubRequest): string | null {
    const { limits, refusalOf } = this.#deps.rendering;
    if (method !== 'GET' && method !== 'HEAD') return `method ${method}`;
    if (limits.blocked.has(type)) return type;
    // What the page expects of its reader's next click.
    if (/prefetch|prerender/.test(`${headers.purpose} ${headers['sec-purpose']}`)) return 'prefetch';
    if (!this.#deps.protocols.has(url.slice(0, url.indexOf(':')))) return 'scheme';
    return refusalOf(url, this.#page.url);
  }

  async #resource(url: string, { method, type, headers }: SubRequest): Promise<Resource | string> {
    const { clock, rendering } = this.#deps;
    // A response may depend on what the page says of itself; those of scripts and style sheets do not.
    const isShared = method === 'GET' && !('authorization' in headers);
    const known = isShared ? (this.#own.get(url) ?? rendering.cache.get(url, clock.now())) : undefined;
    if (known !== undefined) return known;
    const answer = await this.#followed(url, { method, type, headers }, sentFields(type, headers));
    if (typeof answer === 'string') return answer;
    const resource = this.#resourceOf(answer);
    if (isShared) rendering.cache.keep(url, type, resource, clock.now());
    return resource;
  }

  /**
   * The exchange at the end of redirects; the reason where one is not followed.
   * @param confirmed digest of the body that a 304 confirms
   */
  async #followed(
    url: string,
    request: Omit<SubRequest, 'url'>,
    sent: Readonly<Record<string, string>>,
    confirmed?: string,
  ): Promise<Exchange | string> {
    let at = url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const answer = await this.#exchange(at, request.method === 'HEAD' ? 'HEAD' : 'GET', sent);
      if (typeof answer === 'string') return answer;
      const { status, headers } = answer.head;
      if (request.method === 'GET' && isKeepable(request.headers)) this.#keepAnswer(at, answer, confirmed);
      if (status < 300 || status > 399 || status === 304 || headers.location === undefined) return answer;
      const next = sendable(headers.location, at);
      const refusal = next === null ? 'scheme' : this.#refusal(next, { ...request, url: next });
      if (next === null || refusal !== null) return refusal ?? 'scheme';
      at = next;
    }
    return 'redirects';
  }

  /** A fault of the disk is that of {@link kept}. A body that is not whole is left for a visit of its own. */
  #keepAnswer(url: string, exchange: Exchange, confirmed: string | undefined): void {
    const { keep } = this.#deps.rendering;
    const { status, headers } = exchange.head;
    if (keep === undefined || status === 206 || exchange.truncated || isStream(headers)) return;
    if (status === 304 && confirmed === undefined) return;
    const answer: PageAnswer = { url, from: this.#page.url, exchange };
    const keeping = keep(status === 304 ? { ...answer, confirms: confirmed as string } : answer);
    this.#keeping = Promise.all([this.#keeping, keeping]).then(() => {});
    this.#keeping.catch(() => {});
  }

  #need(url: string, { method }: SubRequest): void {
    const { keep, refusalOf } = this.#deps.rendering;
    if (keep === undefined || method !== 'GET' || this.#needed.size >= MAX_NEEDED) return;
    if (refusalOf(url, this.#page.url) === null) this.#needed.add(url);
  }

  /** One exchange, in the turn of its host; the reason where it is not sent. */
  #exchange(
    url: string,
    method: 'GET' | 'HEAD',
    headers: Readonly<Record<string, string>>,
  ): Promise<Exchange | string> {
    const host = hostOf(url);
    const { rendering, robots, lanes, protocols, clock } = this.#deps;
    return rendering.gates.run(host, async () => {
      const { limits } = rendering;
      if (this.#over.signal.aborted) return 'fetch-aborted';
      if (this.requests >= limits.maxRequests) return 'render.maxRequests';
      if (this.#bytes >= limits.maxBytes) return 'render.maxBytes';
      const isElsewhere = host !== this.#page.host;
      if (isElsewhere && lanes.resting().some(([each]) => each === host)) return 'http-throttled';
      const verdict = robots.cachedVerdict(url) ?? (await robots.verdict(url, async () => {}));
      if (!verdict.allowed) return verdict.code ?? 'robots-denied';
      const protocol = protocols.get(url.slice(0, url.indexOf(':')));
      if (protocol === undefined) return 'scheme';
      this.requests++;
      const answer = await protocol.exchange({
        ...{ url, method, headers },
        maxBodyBytes: Math.min(this.#options.maxBodyBytes, limits.maxBytes - this.#bytes),
        timeoutMs: this.#options.timeoutMs,
        signal: this.#over.signal,
        // Error pages are read as well: scripts look at them.
        onHead: () => 'read',
      });
      this.bodyBytes += answer.bodyBytes;
      this.receivedBytes += answer.receivedBytes;
      this.#bytes += answer.body?.length ?? 0;
      const until = pauseByAnswer(answer.head, clock.now(), REST_MS);
      if (until !== null) lanes.pauseUntil(host, until);
      return answer;
    });
  }

  #resourceOf({ head, body }: Exchange): Resource {
    const { status, headers } = head;
    return resourceOf({ status, headers, body: body ?? new Uint8Array(0) }, this.#deps.sha256Of);
  }

  /** The Fetch standard's rule for other origins; the browser cannot hold it, as it is handed responses. */
  #mayRead(url: string, { type }: SubRequest, { headers }: Resource): boolean {
    const { origin } = new URL(this.#page.url);
    if (!DATA_TYPES.has(type) || new URL(url).origin === origin) return true;
    const allowed = headers['access-control-allow-origin'];
    return allowed === '*' || allowed === origin;
  }

  #note(url: string, { type, method, headers }: SubRequest, { status, digest, validators }: Resource): void {
    const isData = DATA_TYPES.has(type);
    const isOwnScript = type === 'script' && hostOf(url) === this.#page.host;
    if (method !== 'GET' || status !== 200 || !(isData || isOwnScript)) return;
    // It could not be requested again without what the page knew.
    if ('authorization' in headers) return;
    const { etag, lastModified } = validators;
    this.#inputs.set(url, { url, digest, etag, lastModified, isData });
  }
}

/** An answer to what only the page knew could never be asked for again. */
const isKeepable = (headers: Readonly<Record<string, string>>): boolean => !('authorization' in headers);

const isStream = (headers: Readonly<Record<string, string>>): boolean =>
  /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? '');

/** The URL as it is sent: without fragment, user and password; `null`: the crawler cannot request it. */
function sendable(url: string, base?: string): string | null {
  const canonical = canonicalUrl(url, base);
  if ('error' in canonical) return null;
  const sent = new URL(url, base);
  sent.hash = '';
  sent.username = '';
  sent.password = '';
  return sent.href;
}

function sentFields(type: string, headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = Object.entries(headers).filter(([name]) => !name.startsWith(':') && !OWN_FIELDS.test(name));
  return DATA_TYPES.has(type) ? Object.fromEntries(sent) : { accept: headers.accept ?? '*/*' };
}
