// adapters/browser/: pages rendered by an installed Chromium, which has no network of its own.
import { CrawlError } from '../../domain/errors.ts';
import type { PageRenderer, PageToRender, RenderedDocument } from '../../ports/rendering/page-renderer.ts';
import { type PageLimits, renderPage } from './render-page.ts';
import { type BrowserDeps, type BrowserOptions, RunningBrowser } from './running-browser.ts';

export interface RendererOptions extends BrowserOptions, PageLimits {
  /** Pages after which a browser is replaced by a fresh one. */
  readonly restartAfter: number;
}

/** A page that ends its browser may be the reason for it, or not: it is tried once more. */
const ATTEMPTS = 2;

/** Opens a renderer; its browser starts with the first page, and after it has ended. */
export function createBrowserRenderer(deps: BrowserDeps, options: RendererOptions): PageRenderer {
  return new BrowserRenderer(deps, options);
}

class BrowserRenderer implements PageRenderer {
  readonly #deps: BrowserDeps;
  readonly #options: RendererOptions;
  #running: Promise<RunningBrowser> | null = null;
  /** Pages in each browser: one that is to be replaced ends with its last page. */
  readonly #inUse = new Map<RunningBrowser, number>();
  readonly #waiting: (() => void)[] = [];
  #active = 0;
  #isClosed = false;

  constructor(deps: BrowserDeps, options: RendererOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async render(page: PageToRender): Promise<RenderedDocument> {
    if (this.#active >= this.#options.pages) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#active++;
    try {
      return await this.#attempts(page);
    } finally {
      // The place passes to the next one, so that no third can take it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#active--;
      else next();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const running = await this.#running?.catch(() => null);
    this.#running = null;
    for (const each of new Set([...this.#inUse.keys(), ...(running ? [running] : [])])) await each.close();
  }

  async #attempts(page: PageToRender): Promise<RenderedDocument> {
    for (let attempt = 1; ; attempt++) {
      const running = await this.#browser();
      try {
        return await this.#renderIn(running, page);
      } catch (error) {
        if (this.#isClosed) throw new CrawlError('fetch-aborted', 'stopped while the page was rendered');
        if (error instanceof CrawlError) throw error;
        const hasEnded = !running.isConnected;
        if (hasEnded && attempt < ATTEMPTS) continue;
        const reason = hasEnded
          ? `the browser ended ${ATTEMPTS} times`
          : String((error as Error).message).split('\n')[0];
        throw new CrawlError('render-failed', reason ?? '', { cause: error });
      }
    }
  }

  async #renderIn(running: RunningBrowser, page: PageToRender): Promise<RenderedDocument> {
    running.pages++;
    this.#inUse.set(running, (this.#inUse.get(running) ?? 0) + 1);
    try {
      return await renderPage(running.contexts, page, this.#options);
    } finally {
      const left = (this.#inUse.get(running) ?? 1) - 1;
      if (left > 0) this.#inUse.set(running, left);
      else this.#inUse.delete(running);
      if (left === 0 && running.pages >= this.#options.restartAfter) await running.close();
    }
  }

  async #browser(): Promise<RunningBrowser> {
    if (this.#isClosed) throw new CrawlError('fetch-aborted', 'stopped before the page was rendered');
    const running = await this.#running;
    // Another page may have put a fresh one in its place while this one waited.
    if (running?.isConnected === true && running.pages < this.#options.restartAfter) return running;
    if (this.#running === null || (await this.#running) === running) {
      this.#running = RunningBrowser.start(this.#deps, this.#options);
      this.#running.catch(() => {
        this.#running = null;
      });
    }
    return this.#running;
  }
}
