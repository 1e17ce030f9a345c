import type { LoadPackage } from '../../packages/load-package.ts';

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

export interface Frame {
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
