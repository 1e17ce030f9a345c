import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Browser, type CdpSession, type Context, type Page, type Route, within } from './playwright.ts';

/** Name of a browser's profile folder in playwright-core. */
const PROFILE = /^playwright_chromium\w*profile-\w+$/;

/**
 * Notes of the profiles of running browsers, in the state directory. A browser ends with the process that started it,
 * however that process dies, since its pipe closes. Its profile in the temporary folder stays behind; the next start
 * that finds the note removes it.
 */
export class ProfileNotes {
  readonly #folder: string;

  /** @param folder for the notes */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes the profiles of processes that have ended. */
  removeStale(): void {
    for (const name of namesIn(this.#folder)) {
      const pid = Number(/^(\d+)-/.exec(name)?.[1]);
      if (!Number.isInteger(pid) || isRunning(pid)) continue;
      const profile = textOf(join(this.#folder, name));
      void this.#remove(profile ?? '', join(this.#folder, name));
    }
  }

  /**
   * Notes the profile of a browser; the returned function removes both.
   * @param commandLine of the browser
   */
  async add(commandLine: readonly string[]): Promise<() => Promise<void>> {
    const flag = '--user-data-dir=';
    const profile = commandLine.find((each) => each.startsWith(flag))?.slice(flag.length) ?? '';
    await mkdir(this.#folder, { recursive: true });
    const note = join(this.#folder, `${process.pid}-${basename(profile)}`);
    writeFileSync(note, profile);
    return () => this.#remove(profile, note);
  }

  /** The note is removed last: if the profile cannot be removed, the next start tries again. */
  async #remove(profile: string, note: string): Promise<void> {
    try {
      await removeProfile(profile);
      await rm(note, { force: true });
    } catch {
      // A process of the browser may still write to it.
    }
  }
}

/** Only a folder with the name and place of such a profile is removed: others may have written the note. */
async function removeProfile(profile: string): Promise<void> {
  if (!PROFILE.test(basename(profile)) || dirname(profile) !== tmpdir()) return;
  try {
    // Chromium keeps its socket in a separate folder.
    const socket = dirname(readlinkSync(join(profile, 'SingletonSocket')));
    if (basename(socket).startsWith('org.chromium.Chromium.') && dirname(socket) === tmpdir()) {
      await rm(socket, { recursive: true, force: true });
    }
  } catch {
    // It had none, or it is gone.
  }
  await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

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
      // A page opened by another page.
      if (!opened.#isOpening) void page.close().catch(() => {});
    });
    return opened;
  }

  /** A page without traces of the previous one; its requests are handed to `answer`. */
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

  /** Ends all pages but one; `false`: they did not end in time. */
  keepOnly(page: Page): Promise<boolean> {
    const others = this.#context.pages().filter((each) => each !== page);
    return within(Promise.all(others.map((each) => each.close())), END_MS);
  }

  /** Refuses all later requests of its page. */
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
 * open, the next one shares its process and costs a third of the first page of a process. The clock of a resting page
 * stands still, so it does nothing meanwhile.
 */
export class SiteContexts {
  readonly #browser: Browser;
  readonly #max: number;
  /** Longest idle first. */
  #idle: SiteContext[] = [];

  /** @param max maximum number of kept contexts */
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

  /** @param isWell whether its page ended properly: otherwise the context is not used again */
  async giveBack(context: SiteContext, isWell: boolean): Promise<void> {
    if (isWell) this.#idle.push(context);
    else await this.#end(context);
    const oldest = this.#idle.length > this.#max ? this.#idle.shift() : undefined;
    if (oldest !== undefined) await this.#end(oldest);
  }

  /** Other pages that end with the browser are rendered again. */
  async #end(context: SiteContext): Promise<void> {
    if (!(await context.close())) await within(this.#browser.close(), END_MS);
  }
}
