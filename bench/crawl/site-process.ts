import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What the benchmark's site serves. */
export interface Site {
  readonly pages: number;
  readonly hosts: number;
  /**
   * `small` pages have 36 KB and 60 links, `real` ones are shaped like labelled pages, `light` ones have 6 KB; most
   * links of `popular` ones, as large as small ones, lead to few pages.
   */
  readonly make: 'small' | 'real' | 'light' | 'popular';
}

/** The site that the options of a measurement ask for. */
export const siteOf = ({ pages, real }: { readonly pages: number; readonly real: boolean }): Site => ({
  pages,
  hosts: 5,
  make: real ? 'real' : 'small',
});

/** What the site answered since the log was last taken; bodies are those of GETs. */
export interface SiteLog {
  readonly requests: number;
  /** Body bytes as sent, compressed. */
  readonly bodyBytes: number;
  /** Pages whose body was sent, and those of them whose body was sent more than once. */
  readonly pages: number;
  readonly twice: number;
  /** Bodies sent of pages that answer 304 and were not in the last change. */
  readonly needless: number;
}

export interface SiteChange {
  readonly changed: number;
  readonly removed: number;
  /** Bytes of the changed bodies as sent to a client that accepts gzip and br. */
  readonly bytes: number;
}

export interface RunningSite {
  readonly origins: readonly string[];
  /** One page a host, from which all others can be reached. */
  readonly seeds: readonly string[];
  /** The log since the last call. */
  log(): Promise<SiteLog>;
  change(): Promise<SiteChange>;
  close(): void;
}

export async function startSite(site: Site): Promise<RunningSite> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./site.js', import.meta.url)), JSON.stringify(site)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const line = await new Promise<string>((resolve) => child.stdout?.once('data', (chunk) => resolve(String(chunk))));
  const origins = JSON.parse(line) as string[];
  const control = async <Value>(path: string): Promise<Value> =>
    (await fetch(`${origins[0]}/control/${path}`)).json() as Promise<Value>;
  return {
    origins,
    seeds: origins.map((origin, host) => `${origin}/page/${host}.html`),
    log: () => control('log'),
    change: () => control('change'),
    close: () => child.disconnect(),
  };
}

/** The first pages of the site. */
export async function somePages(site: Site, count: number): Promise<{ readonly url: string; readonly body: Buffer }[]> {
  const { origins, close } = await startSite(site);
  try {
    const urls = Array.from(
      { length: Math.min(count, site.pages) },
      (_, i) => `${origins[i % origins.length]}/page/${i}.html`,
    );
    return await Promise.all(
      urls.map(async (url) => ({ url, body: Buffer.from(await (await fetch(url)).arrayBuffer()) })),
    );
  } finally {
    close();
  }
}
