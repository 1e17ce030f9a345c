import { CrawlError } from '../../core/domain/errors.ts';
import type { PageToRender, RenderedDocument } from '../../core/ports/rendering/page-renderer.ts';
import { type CdpSession, type Page, type Request, type Route, within } from './playwright.ts';
import type { SiteContext, SiteContexts } from './site-contexts.ts';

export interface PageLimits {
  /** Wall time of a page, ms. */
  readonly timeoutMs: number;
  /** Longest document, bytes. */
  readonly maxBytes: number;
  readonly takesScreenshot: boolean;
}

/** Time of the page's own clock, which skips pauses: later activity of a page is not awaited, ms. */
const SCRIPT_MS = 5_000;
/** Number of tasks after which that clock advances although the page is busy. */
const MAX_TASKS = 10_000;
/** Wall time for reading a document, and for ending a script, ms. */
const READ_MS = 5_000;
const END_MS = 2_000;

/**
 * Renders one page, isolated from the cookies, storage and cache of others. Rejects with `render-failed`, or with an
 * error of playwright-core if the browser has ended.
 */
export async function renderPage(
  contexts: SiteContexts,
  page: PageToRender,
  limits: PageLimits,
): Promise<RenderedDocument> {
  const context = await contexts.take(page.url, page.userAgent);
  let isWell = false;
  try {
    const open = new OpenPage(context, page, limits);
    const document = await open.document();
    isWell = open.isAtRest;
    return document;
  } finally {
    context.rest();
    await contexts.giveBack(context, isWell);
  }
}

class OpenPage {
  /** Its scripts have come to rest. */
  isAtRest = false;
  readonly #context: SiteContext;
  readonly #page: PageToRender;
  readonly #limits: PageLimits;
  readonly #endsAt: number;
  #main: Page | null = null;
  /** Whether the document has been delivered; any later document is a navigation by the page. */
  #hasDocument = false;
  /** Where a script has sent the page. */
  #movedTo: string | null = null;

  constructor(context: SiteContext, page: PageToRender, limits: PageLimits) {
    this.#context = context;
    this.#page = page;
    this.#limits = limits;
    this.#endsAt = performance.now() + limits.timeoutMs;
  }

  async document(): Promise<RenderedDocument> {
    const { page, session } = await this.#context.newPage((route) => this.#answer(route));
    this.#main = page;
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
    const crashed = new Promise<never>((_, reject) => {
      page.on('crash', () => reject(new CrawlError('render-failed', 'the page ended its process in the browser')));
    });
    crashed.catch(() => {});
    return Promise.race([this.#read(page, session), crashed]);
  }

  async #read(page: Page, session: CdpSession): Promise<RenderedDocument> {
    const timeout = this.#left();
    const isLoaded = await page.goto(this.#page.url, { waitUntil: 'domcontentloaded', timeout }).then(
      () => true,
      (error: unknown) => {
        if (/Timeout/.test(String(error))) return false;
        throw error;
      },
    );
    const isAlone = await this.#context.keepOnly(page);
    if (isLoaded) this.isAtRest = (await within(restOfScripts(session), this.#left())) && isAlone;
    // A script that never ends would keep the document from being read.
    else await within(session.send('Runtime.terminateExecution'), END_MS);
    const read = await documentIn(session, this.#limits.maxBytes);
    const html = Buffer.from(read + (this.#movedTo === null ? '' : refreshTo(this.#movedTo)));
    const { maxBytes, takesScreenshot } = this.#limits;
    return {
      html: html.length > maxBytes ? html.subarray(0, maxBytes) : html,
      isCut: html.length > maxBytes || read.length >= maxBytes,
      screenshot: takesScreenshot ? await screenshot(session) : null,
    };
  }

  #left(): number {
    return Math.max(1, this.#endsAt - performance.now());
  }

  async #answer(route: Route): Promise<void> {
    const request = route.request();
    // The previous page, and pages that this one opens, get no answers.
    if (this.#main === null || pageOf(request) !== this.#main) return route.abort('blockedbyclient');
    if (request.isNavigationRequest()) {
      // Frames and navigation targets are separate pages: the crawl finds them through links.
      if (request.frame() !== this.#main.mainFrame()) return route.abort('blockedbyclient');
      if (this.#hasDocument) {
        if (request.url() !== this.#page.url) this.#movedTo = request.url();
        // The document stays in place; an error would replace it.
        return route.fulfill({ status: 204, headers: {}, body: Buffer.alloc(0) });
      }
      this.#hasDocument = true;
      const { body, contentType } = this.#page;
      return route.fulfill({
        status: 200,
        headers: contentType === null ? {} : { 'content-type': contentType },
        body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      });
    }
    const answer = await this.#page.answer({
      url: request.url(),
      method: request.method(),
      type: request.resourceType(),
      headers: request.headers(),
    });
    if (answer === null) return route.abort('blockedbyclient');
    const { status, headers, body } = answer;
    return route.fulfill({
      status,
      headers: forwarded(headers),
      body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    });
  }
}

/** `null`: the request belongs to a page that does not exist yet or any more. */
function pageOf(request: Request): Page | null {
  try {
    return request.frame().page();
  } catch {
    return null;
  }
}

/** A redirect by script, expressed as pages without scripts do, so that the target is found as a link. */
const refreshTo = (url: string): string =>
  `<meta http-equiv="refresh" content="0; url=${url.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')}">`;

/** Fields about the connection or about codings that have been undone; cookies stay with the crawler. */
const NOT_FORWARDED =
  /^(?:content-encoding|content-length|transfer-encoding|connection|keep-alive|set-cookie|alt-svc)$/;

const forwarded = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_FORWARDED.test(name)));

/**
 * Waits until no request is open and the clock of the page has run through its time. The clock skips idle time, so a
 * page that shows its text after two seconds takes milliseconds.
 */
function restOfScripts(session: CdpSession): Promise<void> {
  return new Promise((resolve, reject) => {
    session.once('Emulation.virtualTimeBudgetExpired', () => resolve());
    session
      .send('Emulation.setVirtualTimePolicy', {
        policy: 'pauseIfNetworkFetchesPending',
        budget: SCRIPT_MS,
        maxVirtualTimeTaskStarvationCount: MAX_TASKS,
      })
      .catch(reject);
  });
}

/** Read in an isolated world, where scripts of the page have replaced nothing. */
async function documentIn(session: CdpSession, maxChars: number): Promise<string> {
  const read = async (): Promise<string> => {
    const { frameTree } = (await session.send('Page.getFrameTree')) as {
      readonly frameTree: { readonly frame: { readonly id: string } };
    };
    const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
    const { result } = (await session.send('Runtime.evaluate', {
      contextId: executionContextId,
      expression: `(${serialised})(${maxChars})`,
      returnByValue: true,
      timeout: READ_MS,
    })) as { readonly result: { readonly value?: unknown } };
    if (typeof result.value !== 'string') throw new CrawlError('render-failed', 'the page has no document');
    return result.value;
  };
  let text: string | null = null;
  let fault: unknown = null;
  await within(
    read().then(
      (found) => {
        text = found;
      },
      (error: unknown) => {
        fault = error;
      },
    ),
    READ_MS,
  );
  if (fault !== null) throw fault;
  if (text === null) throw new CrawlError('render-failed', 'the page did not come to rest within render.timeout');
  return text;
}

/** Runs in the browser. A document with too many elements is not serialised: its text would take all memory. */
const serialised = `(maxChars) => {
  const root = document.documentElement;
  if (root === null) return '';
  if (document.getElementsByTagName('*').length > maxChars / 4) return null;
  const html = '<!DOCTYPE html>' + root.outerHTML;
  return html.length > maxChars ? html.slice(0, maxChars) : html;
}`;

/** `null` if the browser returns none in time: a missing picture must not fail the page. */
async function screenshot(session: CdpSession): Promise<Uint8Array | null> {
  let image: Uint8Array | null = null;
  const taken = session.send('Page.captureScreenshot', { format: 'png' }).then(({ data }) => {
    image = Buffer.from(data as string, 'base64');
  });
  await within(taken, READ_MS);
  return image;
}
