import { join } from 'node:path';
import { hostEntriesBy } from '../core/config/hosts/host-entries.ts';
import { isSecretHeader } from '../core/config/hosts/host-keys.ts';
import type { Config } from '../core/config/schema.ts';
import { userAgentOf } from '../core/config/user-agent.ts';
import { hostOf } from '../core/domain/url/canonical/url-key.ts';
import { loadPackage } from '../core/packages/find-package.ts';
import type { Log } from '../core/ports/log.ts';
import type { PageRenderer } from '../core/ports/rendering/page-renderer.ts';
import { HostGates, type Rendering, ResourceCache } from '../core/steps/render/rendering.ts';
import { createBrowserRenderer } from '../transports/browser/browser-renderer.ts';
import { findBrowser, loadPlaywright } from '../transports/browser/playwright.ts';
import { ProfileNotes } from '../transports/browser/site-contexts.ts';
import type { Environment } from './proxies.ts';

export interface RenderingOptions {
  readonly config: Config;
  /** State directory, absolute. */
  readonly dir: string;
  readonly log: Log;
  readonly env?: Environment | undefined;
  /** Whether a host has a private address or is allowed by name. */
  readonly isOwnHost: (host: string) => boolean;
}

/** Pages after which a fresh browser replaces the old one, so that leftovers of pages do not add up. */
const RESTART_AFTER = 500;

/** Rendering as configured, with its preparation before the first page. */
export interface WiredRendering {
  readonly rendering: Rendering;
  /** Throws `package-missing` or `config-invalid` if no page can be rendered. */
  prepare(): void;
}

/** Opens a browser when the first page is rendered, or on `prepare`. */
export function renderingOf(options: RenderingOptions): WiredRendering {
  const { config } = options;
  const { mode, maxRequests, maxBytes, block } = config.render;
  const entries = hostEntriesBy(config.hosts);
  const ownAgent = userAgentOf(config.agent);
  let opened: PageRenderer | null = null;
  const renderer = (): PageRenderer => {
    opened ??= openRenderer(options);
    return opened;
  };
  return {
    rendering: {
      renderer: { render: (page) => renderer().render(page), close: async () => opened?.close() },
      cache: new ResourceCache(),
      gates: new HostGates(),
      modeOf: (url) => entries.forUrl(url)?.entry.render ?? mode,
      userAgentOf: (url) => entries.forUrl(url)?.entry.userAgent ?? ownAgent,
      refusalOf: (url, from) => refusalOf(entries, options.isOwnHost, url, from),
      limits: { maxRequests, maxBytes, blocked: new Set(block) },
    },
    prepare: () => void renderer(),
  };
}

function openRenderer({ config, dir, log, env = {} }: RenderingOptions): PageRenderer {
  const { render, http } = config;
  const playwright = loadPlaywright(loadPackage);
  const program = findBrowser(render.browser, env.PATH ?? process.env.PATH ?? '');
  const isRoot = process.getuid?.() === 0;
  if (isRoot && render.sandbox) log.warn('the browser runs without its sandbox, as Chromium gives none to root');
  return createBrowserRenderer(
    { playwright, log, notes: new ProfileNotes(join(dir, 'browsers')) },
    {
      program,
      isSandboxed: render.sandbox && !isRoot,
      maxMemoryBytes: render.maxMemory,
      pages: render.pages,
      restartAfter: RESTART_AFTER,
      timeoutMs: render.timeoutMs,
      maxBytes: http.maxBodyBytes,
      takesScreenshot: render.screenshot,
    },
  );
}

/**
 * Why a page may not request a URL: a page of the open web gets no answer from the operator's hosts, and none that was
 * sent in return for the operator's credentials.
 */
function refusalOf(
  entries: ReturnType<typeof hostEntriesBy<Config['hosts'][number]>>,
  isOwnHost: (host: string) => boolean,
  url: string,
  from: string,
): string | null {
  const [host, home] = [hostOf(url), hostOf(from)];
  if (host === home) return null;
  if (isOwnHost(host) && !isOwnHost(home)) return 'address-blocked';
  const found = entries.forUrl(url);
  const isPrivate = found !== undefined && holdsSecrets(found.entry);
  return isPrivate && entries.forUrl(from)?.index !== found.index ? 'credentials' : null;
}

function holdsSecrets({ credentials, certificate, cookies, headers = {} }: Config['hosts'][number]): boolean {
  const isSecret = ([name, value]: [string, unknown]): boolean => typeof value !== 'string' || isSecretHeader(name);
  return (
    credentials !== undefined || certificate !== undefined || cookies === true || Object.entries(headers).some(isSecret)
  );
}
