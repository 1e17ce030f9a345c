import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { Browser, CdpSession, Playwright } from './playwright.ts';
import { processesOf } from './processes.ts';
import type { ProfileNotes } from './profiles.ts';
import { SiteContexts } from './site-contexts.ts';
import { within } from './within.ts';

export interface BrowserOptions {
  /** Program of the browser. */
  readonly program: string;
  readonly isSandboxed: boolean;
  /** Pages rendered at a time. */
  readonly pages: number;
  /** Bytes that all processes of the browser may take: more ends the largest page. */
  readonly maxMemoryBytes: number;
}

export interface BrowserDeps {
  readonly playwright: Playwright;
  readonly notes: ProfileNotes;
  readonly log: Pick<Log, 'warn' | 'debug'>;
}

/** Pause between two looks at the memory, ms. */
const LOOK_EVERY_MS = 500;
/** A browser that does not end by then is ended by the closing of its pipe, ms. */
const CLOSE_MS = 5_000;

/**
 * Nothing may leave the browser but through the crawler: requests that it does not hand over (WebRTC, prefetches, its
 * own services) find no name and no proxy.
 */
const ARGUMENTS = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-background-networking',
  '--disable-gpu',
  // The command line, which names the profile, is given out under this alone.
  '--enable-automation',
  '--dns-prefetch-disable',
  '--mute-audio',
  '--no-pings',
  '--disable-breakpad',
  '--disable-crash-reporter',
];
const NO_PROXY = { server: 'http://127.0.0.1:9', bypass: '<-loopback>' };

/** A browser process, from its start to its end. */
export class RunningBrowser {
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
        // The crawler ends in its own way when it is asked to.
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

  /** Ends the largest page where all take too much: the page fails alone, and the browser goes on. */
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
