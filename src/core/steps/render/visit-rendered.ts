import {
  hasGained,
  isBare,
  mayGain,
  type PageFill,
  pageFill,
  pagePattern,
  type RenderInput,
  type RenderMode,
  type RenderTrials,
  trialsOf,
} from '../../domain/crawl/rendering/render-trials.ts';
import { NO_VALIDATORS } from '../../domain/crawl/states/datum.ts';
import type { FetchSuccess } from '../../domain/crawl/states/outcome.ts';
import { CrawlError } from '../../domain/errors.ts';
import { elapsedOf } from '../../ports/clock.ts';
import type { RenderedDocument } from '../../ports/rendering/page-renderer.ts';
import type { FetchItem, HostObservation, WireResponse } from '../../ports/segment-store.ts';
import { type Visit, visit } from '../fetch/visit.ts';
import type { VisitOptions, VisitResult } from '../fetch/visit-result.ts';
import { isHtml, type RenderDeps, type RenderOptions, type WithRendering } from './rendering.ts';
import { SubRequests } from './sub-requests.ts';

/** A visit to a page that may be rendered, and what is known of the bare pages of its host. */
export interface RenderVisit extends Visit {
  readonly host: Visit['host'] & { readonly rendering?: readonly RenderTrials[] | null };
}

const ENDS_THE_CRAWL: ReadonlySet<CrawlError['consequence']> = new Set(['stop-crawl', 'refuse']);

type Success = VisitResult & {
  readonly outcome: FetchSuccess;
  readonly response: WireResponse;
  readonly body: Uint8Array;
};

/**
 * Visits a page as `visit` does, by the ladder of change; a browser comes last. A page that the ladder calls unchanged
 * is not rendered again if the inputs of its scripts are unchanged, too.
 */
export function visitRendered(deps: RenderDeps, options: RenderOptions, asked: RenderVisit): Promise<VisitResult> {
  const { rendering } = options;
  const mode = rendering?.modeOf(asked.item.url) ?? 'never';
  if (rendering === undefined || mode === 'never') return visit(deps, options, asked);
  return visitByMode({ ...deps, rendering }, options, asked, mode);
}

async function visitByMode(
  deps: WithRendering,
  options: VisitOptions,
  asked: RenderVisit,
  mode: RenderMode,
): Promise<VisitResult> {
  const startedAt = elapsedOf(deps.clock);
  const requests = new SubRequests(deps, options, asked.item);
  const render = new RenderedVisit(deps, requests, asked, mode === 'always');
  const first = await visit(deps, options, render.needsBody ? { ...asked, item: withoutCopy(asked.item) } : asked);
  const again = async (): Promise<VisitResult> => {
    await asked.nextTurn?.();
    return visit(deps, options, { ...asked, item: withoutCopy(asked.item) });
  };
  const result = await render.unlessUnchanged(first, again).finally(() => requests.end());
  // Before the page is stored, so that answers lie on the disk no later than the page that needs them.
  await requests.kept();
  const { needed } = requests;
  const outcome = requests.withCosts(result.outcome);
  const ms = Math.max(outcome.ms, Math.round(elapsedOf(deps.clock) - startedAt));
  const isShown = outcome.kind === 'success' && needed.length > 0;
  return { ...result, outcome: isShown ? { ...outcome, ms, requisites: needed } : { ...outcome, ms } };
}

/** The page as if it were unknown, so that its body is transferred in any case. */
function withoutCopy({ rendered: _, ...item }: FetchItem): FetchItem {
  return { ...item, validators: NO_VALIDATORS, digest: null, audit: false };
}

class RenderedVisit {
  readonly #deps: WithRendering;
  readonly #requests: SubRequests;
  readonly #visit: RenderVisit;
  readonly #isAlways: boolean;
  readonly #pattern: string;
  readonly #trials: readonly RenderTrials[] | null;

  constructor(deps: WithRendering, requests: SubRequests, asked: RenderVisit, isAlways: boolean) {
    this.#deps = deps;
    this.#requests = requests;
    this.#visit = asked;
    this.#isAlways = isAlways;
    this.#pattern = pagePattern(asked.item.url);
    this.#trials = asked.host.rendering ?? null;
  }

  /** Whether the stored copy is a static one that should be rendered: rendering has been switched on since. */
  get needsBody(): boolean {
    const { item } = this.#visit;
    if (item.digest === null || item.rendered !== undefined) return false;
    if (!isHtml({ 'content-type': item.claims?.contentType ?? '' })) return false;
    if (this.#isAlways) return true;
    const known = trialsOf(this.#trials, this.#pattern);
    return item.isBare === true && (known === undefined || (known.gains > 0 && this.#mayGain()));
  }

  /**
   * The result of a visit, rendered where that is due.
   * @param again fetches the body that an unchanged page left out
   */
  async unlessUnchanged(first: VisitResult, again: () => Promise<VisitResult>): Promise<VisitResult> {
    try {
      if (first.outcome.kind !== 'unchanged') return await this.#rendered(first);
      const { rendered } = this.#visit.item;
      if (rendered === undefined) return first;
      // An audit renders whatever the inputs say: a page may change by what is not among them.
      if (!this.#visit.item.audit && (await this.#areSame(rendered.inputs))) {
        const inputs = this.#requests.inputs;
        return { ...first, outcome: { ...first.outcome, rendered: { digest: rendered.digest, inputs } } };
      }
      const second = await again();
      const { requests, bodyBytes, receivedBytes } = first.outcome;
      const outcome = {
        ...second.outcome,
        requests: second.outcome.requests + requests,
        bodyBytes: second.outcome.bodyBytes + bodyBytes,
        receivedBytes: second.outcome.receivedBytes + receivedBytes,
      };
      const observation = merged(first.observation, second.observation);
      return await this.#rendered({ ...second, outcome, observation });
    } catch (error) {
      // Without a browser that starts, no page could be rendered: that is no fault of this one.
      if (!(error instanceof CrawlError) || ENDS_THE_CRAWL.has(error.consequence)) throw error;
      return this.#failed(first, error);
    }
  }

  async #areSame(inputs: readonly RenderInput[]): Promise<boolean> {
    for (const input of inputs) if (!(await this.#requests.isSame(input))) return false;
    return true;
  }

  async #rendered(result: VisitResult): Promise<VisitResult> {
    if (!isWhole(result) || !isHtml(result.headers)) return result;
    if (this.#isAlways) return this.#shown(result, await this.#render(result));
    const before = pageFill(Buffer.from(result.body).toString('latin1'));
    if (!isBare(before)) return this.#visit.item.isBare === true ? this.#tried(result, before, before) : result;
    if (!this.#mayGain()) return result;
    const document = await this.#render(result).catch((error: unknown) => {
      // A page to which no render has added anything lacks nothing that is known.
      const isKnown = (trialsOf(this.#trials, this.#pattern)?.gains ?? 0) > 0;
      if (isKnown || !(error instanceof CrawlError) || error.code !== 'render-failed') throw error;
      return null;
    });
    const after = document === null ? before : pageFill(Buffer.from(document.html).toString());
    const tried = this.#tried(result, before, after);
    return document === null || !hasGained(before, after) ? tried : this.#shown(tried, document);
  }

  #mayGain(): boolean {
    return mayGain(this.#trials, this.#pattern, this.#deps.clock.now());
  }

  #tried<Result extends VisitResult>(result: Result, before: PageFill, after: PageFill): Result {
    const trial = { pattern: this.#pattern, gained: hasGained(before, after), at: this.#deps.clock.now() };
    return { ...result, observation: { ...result.observation, trial } };
  }

  #render({ body, headers }: Success): Promise<RenderedDocument> {
    const { rendering } = this.#deps;
    const { url } = this.#visit.item;
    return rendering.renderer.render({
      ...{ url, body, contentType: headers['content-type'] ?? null, userAgent: rendering.userAgentOf(url) },
      answer: (request) => this.#requests.answer(request),
    });
  }

  /** The result with the rendered document in the place of the body. */
  #shown(result: Success, { html, isCut, screenshot }: RenderedDocument): VisitResult {
    const digest = this.#deps.sha256Of(html).slice(0, 32);
    const rendered = { digest: result.outcome.digest, inputs: this.#requests.inputs };
    const truncated = isCut ? ('length' as const) : result.outcome.truncated;
    return {
      ...result,
      outcome: { ...result.outcome, digest, truncated, rendered },
      response: { ...result.response, rendered: { html, ...(screenshot !== null && { screenshot }) } },
      body: html.slice(),
      headers: { ...result.headers, 'content-type': SHOWN_TYPE },
    };
  }

  #failed({ outcome, headers, observation }: VisitResult, { code, message }: CrawlError): VisitResult {
    const { at, requests, bodyBytes, receivedBytes, ms } = outcome;
    const failure = { kind: 'failed', code, message, status: null, retryAt: null } as const;
    return {
      outcome: { ...failure, ...{ at, requests, bodyBytes, receivedBytes, ms } },
      ...{ response: null, body: null, headers, observation },
    };
  }
}

/** Of a rendered document, whatever its static page declared. */
export const SHOWN_TYPE = 'text/html; charset=utf-8';

const isWhole = (result: VisitResult): result is Success =>
  result.outcome.kind === 'success' && result.body !== null && result.response !== null;

function merged(first: HostObservation | null, second: HostObservation | null): HostObservation | null {
  return first === null ? second : second === null ? first : { ...second, ...first };
}

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
