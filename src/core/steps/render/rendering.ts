// core/steps/render/: pages that a browser renders: when, with which requests, and how a return visit does without it.

import { claimsOf, validatorsOf } from '../../domain/crawl/headers/ladder.ts';
import type { RenderMode } from '../../domain/crawl/rendering/render-trials.ts';
import type { Validators } from '../../domain/crawl/states/datum.ts';
import type { Exchange, FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { HostLanes } from '../../ports/host-lanes.ts';
import type { PageRenderer, SubAnswer } from '../../ports/rendering/page-renderer.ts';
import type { Robots } from '../../ports/robots.ts';
import type { VisitDeps, VisitOptions } from '../fetch/visit-result.ts';

/** How pages are rendered, as configured. */
export interface Rendering {
  readonly renderer: PageRenderer;
  readonly cache: ResourceCache;
  readonly gates: HostGates;
  modeOf(url: string): RenderMode;
  userAgentOf(url: string): string;
  /** Whether the page at `from` may ask for `url`, as far as settings decide it; else the reason. */
  refusalOf(url: string, from: string): string | null;
  readonly limits: RenderLimits;
  /** Absent: what pages request is not kept. */
  readonly keep?: KeepAnswer | undefined;
}

/** An answer to a GET request of a page. */
export interface PageAnswer {
  /** As it was sent. */
  readonly url: string;
  /** The page. */
  readonly from: string;
  readonly exchange: Exchange;
  /** Of a 304: first 128 bits of the SHA-256 of the body that it confirms; absent otherwise. */
  readonly confirms?: string;
}

/** Keeps an answer with what pages need to be shown. Resolves once its body may be forgotten. */
export type KeepAnswer = (answer: PageAnswer) => Promise<void>;

export interface RenderLimits {
  /** Requests of one page, those answered from memory left out. */
  readonly maxRequests: number;
  /** Decoded bytes that they bring. */
  readonly maxBytes: number;
  /** Types of requests that are refused, as in `SubRequest`. */
  readonly blocked: ReadonlySet<string>;
}

export interface RenderOptions extends VisitOptions {
  /** Absent: no page is rendered. */
  readonly rendering?: Rendering | undefined;
}

export interface RenderDeps extends VisitDeps {
  readonly robots: Robots;
  readonly lanes: HostLanes;
  /** By scheme, without the colon. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
}

/** Where pages are rendered. */
export type WithRendering = RenderDeps & { readonly rendering: Rendering };

/** Requests of pages to a host, one after the other, over all pages that are being rendered. */
export class HostGates {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(host: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(host) ?? Promise.resolve();
    const result = before.then(task, task);
    this.#last.set(host, result);
    const forget = (): void => {
      if (this.#last.get(host) === result) this.#last.delete(host);
    };
    result.then(forget, forget);
    return result;
  }
}

/** A response to a request of a page, as it may serve other pages. */
export interface Resource extends SubAnswer {
  /** First 128 bits of the SHA-256 of the body, 32 hex digits. */
  readonly digest: string;
  readonly validators: Validators;
}

/** Bytes of bodies that are kept. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_CONFIRMED = 10_000;
/**
 * Time for which scripts and style sheets serve other pages without revalidation, ms, whatever their `max-age`: pages
 * of one site share them, and a round sees the site at one moment.
 */
const SHARED_FOR_MS = 5 * 60_000;
/** Data is used again as long as its server says, but no longer, ms. */
const MAX_FRESH_MS = 5 * 60_000;

const SHARED_TYPES: ReadonlySet<string> = new Set(['script', 'stylesheet']);

/** What pages have in common, fetched once in a run; the least recently used goes first. */
export class ResourceCache {
  readonly #kept = new Map<string, { readonly resource: Resource; readonly until: number }>();
  /** Digests that servers have confirmed. */
  readonly #confirmed = new Map<string, { readonly digest: string; readonly until: number }>();
  #bytes = 0;

  /** @param now ms since the epoch */
  get(url: string, now: number): Resource | undefined {
    const found = this.#kept.get(url);
    if (found === undefined) return undefined;
    this.#kept.delete(url);
    if (found.until <= now) {
      this.#bytes -= found.resource.body.length;
      return undefined;
    }
    this.#kept.set(url, found);
    return found.resource;
  }

  /** Notes that a URL still has a body of this digest: pages that share it need not ask again. */
  confirm(url: string, digest: string, now: number): void {
    this.#confirmed.delete(url);
    this.#confirmed.set(url, { digest, until: now + SHARED_FOR_MS });
    const [oldest] = this.#confirmed.keys();
    if (this.#confirmed.size > MAX_CONFIRMED && oldest !== undefined) this.#confirmed.delete(oldest);
  }

  isConfirmed(url: string, digest: string, now: number): boolean {
    const found = this.#confirmed.get(url);
    return found !== undefined && found.until > now && found.digest === digest;
  }

  /** @param type as in `SubRequest` */
  keep(url: string, type: string, resource: Resource, now: number): void {
    const freshMs = freshnessOf(resource.headers, type);
    if (resource.status !== 200 || freshMs <= 0 || resource.body.length > MAX_BYTES) return;
    this.#bytes += resource.body.length - (this.#kept.get(url)?.resource.body.length ?? 0);
    this.#kept.delete(url);
    this.#kept.set(url, { resource, until: now + freshMs });
    for (const [oldest, { resource: dropped }] of this.#kept) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= dropped.body.length;
    }
  }
}

/** RFC 9111, section 5.2.2, as far as a cache of one run needs it; ms. */
function freshnessOf(headers: Readonly<Record<string, string>>, type: string): number {
  const control = (headers['cache-control'] ?? '').toLowerCase();
  if (/\bno-store\b/.test(control) || headers.vary === '*') return 0;
  if (SHARED_TYPES.has(type)) return SHARED_FOR_MS;
  if (/\bno-cache\b|\bprivate\b/.test(control)) return 0;
  const seconds = Number(/\bmax-age\s*=\s*"?(\d+)/.exec(control)?.[1] ?? 0);
  return Math.min(MAX_FRESH_MS, 1_000 * seconds);
}

/** @param sha256Of as 64 hex digits */
export function resourceOf(answer: SubAnswer, sha256Of: (body: Uint8Array) => string): Resource {
  return { ...answer, digest: sha256Of(answer.body).slice(0, 32), validators: validatorsOf(answer.headers) };
}

/** Whether a response is an HTML page, which browsers render. */
export function isHtml(headers: Readonly<Record<string, string>>): boolean {
  const { contentType } = claimsOf(headers);
  return contentType !== null && /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}
