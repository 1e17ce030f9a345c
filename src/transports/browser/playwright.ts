import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import type { LoadPackage } from '../../core/packages/find-package.ts';

/** Commands of Chromium and its variants, in the order of the search. */
const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
] as const;

/** Where installers put it, outside the path. */
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
] as const;

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * The browser program. Throws `config-invalid` if there is none.
 * @param named `render.browser`; empty: search for it
 * @param path the variable PATH
 */
export function findBrowser(named: string, path: string): string {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const inPath = (name: string): string | undefined => folders.map((folder) => join(folder, name)).find(isExecutable);
  if (named !== '') {
    const found = isAbsolute(named) ? (isExecutable(named) ? named : undefined) : inPath(named);
    if (found !== undefined) return found;
    throw new CrawlError('config-invalid', `render.browser: ${named} is not a program that can be started`);
  }
  for (const name of NAMES) {
    const found = inPath(name);
    if (found !== undefined) return found;
  }
  const installed = PLACES.find(isExecutable);
  if (installed !== undefined) return installed;
  throw new CrawlError(
    'config-invalid',
    `render: no browser was found (looked for ${NAMES.join(', ')}). Install one, such as the Debian package chromium, ` +
      'or name its program in render.browser',
  );
}

/** Resolves when the task settles, at the latest after `ms`; never rejects. `false`: it did not settle in time. */
export async function within(task: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const done = task.then(
    () => true,
    () => true,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}

/** The part of playwright-core that is used. */
export interface Playwright {
  readonly chromium: { launch(options: Readonly<Record<string, unknown>>): Promise<Browser> };
}

export interface Browser {
  newContext(options: Readonly<Record<string, unknown>>): Promise<Context>;
  newBrowserCDPSession(): Promise<CdpSession>;
  isConnected(): boolean;
  on(event: 'disconnected', listener: () => void): void;
  close(): Promise<void>;
}

export interface Context {
  newPage(): Promise<Page>;
  pages(): readonly Page[];
  newCDPSession(page: Page): Promise<CdpSession>;
  route(url: string, handler: (route: Route) => Promise<void>): Promise<void>;
  on(event: 'page', listener: (page: Page) => void): void;
  close(): Promise<void>;
}

export interface Page {
  goto(url: string, options: { readonly waitUntil: 'domcontentloaded'; readonly timeout: number }): Promise<unknown>;
  mainFrame(): Frame;
  on(event: 'dialog', listener: (dialog: { dismiss(): Promise<void> }) => void): void;
  on(event: 'crash', listener: () => void): void;
  close(): Promise<void>;
}

interface Frame {
  page(): Page;
}

export interface Route {
  request(): Request;
  fulfill(answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Buffer;
  }): Promise<void>;
  abort(reason: string): Promise<void>;
}

export interface Request {
  url(): string;
  method(): string;
  resourceType(): string;
  headers(): Record<string, string>;
  isNavigationRequest(): boolean;
  frame(): Frame;
}

export interface CdpSession {
  send(method: string, parameters?: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  once(event: string, listener: (event: Record<string, unknown>) => void): void;
  detach(): Promise<void>;
}

/** Throws `package-missing`. */
export const loadPlaywright = (load: LoadPackage): Playwright => load('playwright', 'render').module as Playwright;
