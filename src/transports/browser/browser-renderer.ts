// transports/browser/: pages rendered by an installed Chromium, which has no network of its own.

import { readFileSync } from 'node:fs';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Log } from '../../core/ports/log.ts';
import type { PageRenderer, PageToRender, RenderedDocument } from '../../core/ports/rendering/page-renderer.ts';
import { type Browser, type CdpSession, type Playwright, within } from './playwright.ts';
import { type PageLimits, renderPage } from './render-page.ts';
import { type ProfileNotes, SiteContexts } from './site-contexts.ts';

interface BrowserProcess {
  /** `browser`, `renderer`, `GPU`, .. */
  readonly type: string;
  readonly pid: number;
  /** Private memory, bytes; 0 if the system does not report it. */
  readonly bytes: number;
}

/** The processes of a browser. Memory that they share, such as that of the program itself, is left out. */
async function processesOf(session: CdpSession): Promise<BrowserProcess[]> {
  const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as {
    readonly processInfo: readonly { readonly type: string; readonly id: number }[];
  };
  return processInfo.map(({ type, id }) => ({ type, pid: id, bytes: ownBytes(id) }));
}

const PAGE_BYTES = 4_096;

/** Resident minus shared pages, from the second and third number of `statm` (proc(5)). */
function ownBytes(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return PAGE_BYTES * (resident - shared);
  } catch {
    return 0;
  }
}

interface BrowserOptions {
  /** Program of the browser. */
  readonly program: string;
  readonly isSandboxed: boolean;
  /** Pages rendered at a time. */
  readonly pages: number;
  /** Bytes that all processes of the browser may take together: beyond that, the largest page is ended. */
  readonly maxMemoryBytes: number;
}

interface BrowserDeps {
  readonly playwright: Playwright;
  readonly notes: ProfileNotes;
  readonly log: Pick<Log, 'warn' | 'debug'>;
}

/** Pause between two looks at the memory, ms. */
const LOOK_EVERY_MS = 500;
/** A browser that has not ended by then is ended by closing its pipe, ms. */
const CLOSE_MS = 5_000;

/**
 * All traffic must go through the crawler: requests that the browser does not hand over (WebRTC, prefetches, its own
 * services) can reach no host name and no proxy.
 */
const ARGUMENTS = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-background-networking',
  '--disable-gpu',
  // Only with this flag is the command line, which names the profile, disclosed.
  '--enable-automation',
  '--dns-prefetch-disable',
  '--mute-audio',
  '--no-pings',
  '--disable-breakpad',
  '--disable-crash-reporter',
];
const NO_PROXY = { server: 'http://127.0.0.1:9', bypass: '<-loopback>' };

/** A browser process, from its start to its end. */
class RunningBrowser {
  readonly contexts: SiteContexts;
  /** Pages begun in it. */
  pages = 0;
  readonly #browser: Browser;
  readonly #session: CdpSession;
  readonly #forget: () => Promise<void>;
  readonly #looks: NodeJS.Timeout;

  private constructor(
    browser: Browser,
    session: CdpSession,
    forget: () => Promise<void>,
    { maxMemoryBytes, pages }: BrowserOptions,
    log: BrowserDeps['log'],
  ) {
    this.#browser = browser;
    this.contexts = new SiteContexts(browser, pages);
    this.#session = session;
    this.#forget = forget;
    this.#looks = setInterval(() => {
      this.#boundMemory(maxMemoryBytes, log).catch(() => {});
    }, LOOK_EVERY_MS).unref();
    browser.on('disconnected', () => {
      clearInterval(this.#looks);
      void forget();
    });
  }

  /** Rejects with `config-invalid` where the program does not start. */
  static async start({ playwright, notes, log }: BrowserDeps, options: BrowserOptions): Promise<RunningBrowser> {
    notes.removeStale();
    const browser = await playwright.chromium
      .launch({
        executablePath: options.program,
        headless: true,
        chromiumSandbox: options.isSandboxed,
        // The crawler handles these signals itself.
        ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
        proxy: NO_PROXY,
        args: ARGUMENTS,
      })
      .catch((error: unknown) => {
        throw new CrawlError('config-invalid', startFault(options, String(error)), { cause: error });
      });
    const session = await browser.newBrowserCDPSession();
    const { arguments: commandLine } = (await session.send('Browser.getBrowserCommandLine')) as {
      readonly arguments: readonly string[];
    };
    const forget = await notes.add(commandLine);
    log.debug('a browser was started', { program: options.program });
    return new RunningBrowser(browser, session, forget, options, log);
  }

  get isConnected(): boolean {
    return this.#browser.isConnected();
  }

  async close(): Promise<void> {
    clearInterval(this.#looks);
    await within(this.#browser.close(), CLOSE_MS);
    await this.#forget();
  }

  /** Ends the largest page if all together take too much: only that page fails, and the browser continues. */
  async #boundMemory(maxBytes: number, log: BrowserDeps['log']): Promise<void> {
    const processes = await processesOf(this.#session);
    if (processes.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes) return;
    const [largest] = processes.filter(({ type }) => type === 'renderer').sort((a, b) => b.bytes - a.bytes);
    if (largest === undefined) return;
    log.warn('a page took too much memory in the browser and was ended', { bytes: largest.bytes, limit: maxBytes });
    process.kill(largest.pid, 'SIGKILL');
  }
}

function startFault({ program, isSandboxed }: BrowserOptions, fault: string): string {
  const line = fault.split('\n').find((each) => /error|sandbox|failed/i.test(each)) ?? fault.split('\n')[0];
  const isOfSandbox = isSandboxed && /sandbox|namespace/i.test(fault);
  const hint = isOfSandbox ? '. Where this system gives it no sandbox: render.sandbox: false' : '';
  return `render: the browser ${program} does not start: ${line?.trim()}${hint}`;
}

interface RendererOptions extends BrowserOptions, PageLimits {
  /** Pages after which a browser is replaced by a fresh one. */
  readonly restartAfter: number;
}

/** A page that ends its browser may or may not be the cause, so it is tried once more. */
const ATTEMPTS = 2;

/** Opens a renderer; its browser starts with the first page, and again after it has ended. */
export function createBrowserRenderer(deps: BrowserDeps, options: RendererOptions): PageRenderer {
  return new BrowserRenderer(deps, options);
}

class BrowserRenderer implements PageRenderer {
  readonly #deps: BrowserDeps;
  readonly #options: RendererOptions;
  #running: Promise<RunningBrowser> | null = null;
  /** Number of pages in each browser: a browser that is to be replaced ends with its last page. */
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
      // The slot passes directly to the next in line, so that no other can take it.
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
    // While this page waited, another one may have started a fresh browser.
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
