import { cp, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChangingSite } from './changing-site.ts';
import { asked } from './program.ts';

/** State directories and files that the tasks begin with, each made once and copied for every attempt. */
export interface MadeStates {
  readonly origin: string;
  /** The first version of the site, crawled to its end. */
  readonly crawled: string;
  /** The same; the site has changed since, and every page is due. */
  readonly due: string;
  /** The same; one segment of them is fetched and parsed, and not applied. */
  readonly parsed: string;
  /** That segment. */
  readonly segment: string;
  /** The same after a second crawl, so that old segments have been replaced. */
  readonly twice: string;
  /** The same with a table of the crawl db cut short. */
  readonly damaged: string;
  /** The site under another name. */
  readonly other: string;
  /** A backup of `twice`. */
  readonly backup: string;
  /** Output of "db export" of `other`. */
  readonly lines: string;
  /** Seeds that no crawl knows. */
  readonly seeds: string;
}

/** Options of every command that sends requests. */
export const NETWORK: readonly string[] = ['--allow', '127.0.0.1', '--allow', 'localhost', '--delay', '0', '--quiet'];

export async function makeStates(site: ChangingSite, folder: string): Promise<MadeStates> {
  const at = (name: string): string => join(folder, name);
  const crawl = (dir: string, ...seeds: string[]): Promise<string> =>
    asked(['crawl', ...seeds, '--dir', dir, ...NETWORK]);
  const made = {
    origin: site.origin,
    crawled: at('crawled'),
    due: at('due'),
    parsed: at('parsed'),
    twice: at('twice'),
    damaged: at('damaged'),
    other: at('other'),
    backup: at('backup'),
    lines: at('lines.jsonl'),
    seeds: at('seeds.txt'),
  };
  await crawl(made.crawled, `${site.origin}/`);
  await crawl(made.other, `${site.origin.replace('127.0.0.1', 'localhost')}/`);
  await writeFile(made.lines, await asked(['db', 'export', '--dir', made.other]));
  await writeFile(made.seeds, Array.from({ length: 400 }, (_, i) => `http://seed-${i}.example/page\n`).join(''));

  await cp(made.crawled, made.due, { recursive: true });
  const known = await asked(['readdb', '--dump', '--format', 'jsonl', '--dir', made.due]);
  const urls = known
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { url: string }).url);
  await asked(['due', 'touch', '--stdin', '--dir', made.due], urls.join('\n'));
  site.version = 2;
  await cp(made.due, made.twice, { recursive: true });
  await crawl(made.twice);
  await cp(made.due, made.parsed, { recursive: true });
  for (const step of ['generate', 'fetch', 'parse'])
    await asked([step, '--dir', made.parsed, '--quiet', ...(step === 'fetch' ? NETWORK.slice(0, -1) : [])]);
  await asked(['state', 'backup', made.backup, '--dir', made.twice]);
  await cp(made.twice, made.damaged, { recursive: true });
  await cutLargestTable(join(made.damaged, 'db'));
  return { ...made, segment: (await readdir(join(made.parsed, 'segments'))).sort().at(-1) ?? '' };
}

async function cutLargestTable(db: string): Promise<void> {
  const tables = (await readdir(db)).filter((name) => name.endsWith('.ldb')).map((name) => join(db, name));
  const sizes = await Promise.all(tables.map(async (file) => ({ file, size: (await stat(file)).size })));
  const largest = sizes.sort((a, b) => b.size - a.size)[0];
  if (largest === undefined) throw new Error(`${db} has no table to damage`);
  await truncate(largest.file, Math.floor(largest.size / 2));
}
