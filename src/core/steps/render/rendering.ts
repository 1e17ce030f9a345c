// core/steps/render/: pages that a browser renders: when, with which requests, and how a return visit does without it.

import type { RenderMode } from '../../domain/crawl/rendering/render-trials.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { HostLanes } from '../../ports/host-lanes.ts';
import type { PageRenderer } from '../../ports/rendering/page-renderer.ts';
import type { Robots } from '../../ports/robots.ts';
import type { VisitDeps, VisitOptions } from '../fetch/visit-result.ts';
import type { ResourceCache } from './resource-cache.ts';

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
}

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
