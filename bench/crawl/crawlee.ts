/**
 * A crawl by Crawlee of the same site in the same run. It keeps nothing between crawls, so a second one costs the same.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Crawled {
  readonly pages: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakRssMb: number;
}

/** CPU of one crawl of the site by Crawlee, in ms; `folder` is where `@crawlee/cheerio` is installed. */
export function crawlByCrawlee(folder: string, seeds: string): Crawled {
  const child = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('./crawlee-child.js', import.meta.url)), folder, seeds],
    { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (child.status !== 0)
    throw new Error(`Crawlee did not run: expected @crawlee/cheerio to be installed in ${folder}`);
  return JSON.parse(child.stdout) as Crawled;
}
