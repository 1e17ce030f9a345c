import type { Browser, CdpSession, Context, Page, Route } from './playwright.ts';
import { within } from './within.ts';

const VIEWPORT = { width: 1280, height: 800 };
/** Wall time for the end of a page, ms. */
const END_MS = 2_000;

type Answer = (route: Route) => Promise<void>;

/** Cookies, storage and cache of one origin, for one page at a time. */
export class SiteContext {
  readonly origin: string;
  readonly userAgent: string;
  readonly #context: Context;
  #answer: Answer | null = null;
  #isOpening = false;
  #isUsed = false;

  private constructor(context: Context, origin: string, userAgent: string) {
    this.#context = context;
    this.origin = origin;
    this.userAgent = userAgent;
  }

  static async open(browser: Browser, origin: string, userAgent: string): Promise<SiteContext> {
    const context = await browser.newContext({
      ...{ userAgent, viewport: VIEWPORT, serviceWorkers: 'block', acceptDownloads: false },
    });
    const opened = new SiteContext(context, origin, userAgent);
    await context.route('**/*', (route) => opened.#route(route).catch(() => {}));
    context.on('page', (page) => {
      // A page that was opened by another one.
      if (!opened.#isOpening) void page.close().catch(() => {});
    });
    return opened;
  }

  /** A page that finds nothing of the one before it; its requests are handed to `answer`. */
  async newPage(answer: Answer): Promise<{ readonly page: Page; readonly session: CdpSession }> {
    this.#answer = answer;
    this.#isOpening = true;
    const page = await this.#context.newPage().finally(() => {
      this.#isOpening = false;
    });
    const session = await this.#context.newCDPSession(page);
    if (this.#isUsed) {
      await session.send('Storage.clearDataForOrigin', { origin: this.origin, storageTypes: 'all' });
      await session.send('Network.clearBrowserCookies');
    }
    this.#isUsed = true;
    return { page, session };
  }

  /** Ends all pages but one; `false`: they do not end in time. */
  keepOnly(page: Page): Promise<boolean> {
    const others = this.#context.pages().filter((each) => each !== page);
    return within(Promise.all(others.map((each) => each.close())), END_MS);
  }

  /** What its page asks for from now on is refused. */
  rest(): void {
    this.#answer = null;
  }

  close(): Promise<boolean> {
    return within(this.#context.close(), END_MS);
  }

  async #route(route: Route): Promise<void> {
    if (this.#answer === null) return route.abort('blockedbyclient');
    await this.#answer(route);
  }
}

/**
 * The contexts of a browser. They are kept, with their last page, for further pages of the origin: while that page is
 * open, the next one shares its process, and costs a third of what the first page of a process costs. The clock of a
 * page that is at rest stands, so it does nothing meanwhile.
 */
export class SiteContexts {
  readonly #browser: Browser;
  readonly #max: number;
  /** Longest idle first. */
  #idle: SiteContext[] = [];

  /** @param max contexts that are kept */
  constructor(browser: Browser, max: number) {
    this.#browser = browser;
    this.#max = max;
  }

  async take(url: string, userAgent: string): Promise<SiteContext> {
    const { origin } = new URL(url);
    const kept = this.#idle.findLast((each) => each.origin === origin && each.userAgent === userAgent);
    if (kept === undefined) return SiteContext.open(this.#browser, origin, userAgent);
    this.#idle = this.#idle.filter((each) => each !== kept);
    return kept;
  }

  /** @param isWell whether its page has ended as pages should: any other context is not used again */
  async giveBack(context: SiteContext, isWell: boolean): Promise<void> {
    if (isWell) this.#idle.push(context);
    else await this.#end(context);
    const oldest = this.#idle.length > this.#max ? this.#idle.shift() : undefined;
    if (oldest !== undefined) await this.#end(oldest);
  }

  /** Other pages that a browser takes down with it are rendered again. */
  async #end(context: SiteContext): Promise<void> {
    if (!(await context.close())) await within(this.#browser.close(), END_MS);
  }
}
