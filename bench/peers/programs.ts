import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crawlCommand } from '../crawl/measured-crawl.ts';
import { ROOT } from '../harness/places.ts';
import type { CrawleePlan } from './crawlee-child.ts';

/** A crawler to be measured. All of them obey robots.txt and have as many requests at a time as there are hosts. */
export interface Program {
  /** Of incrawl: how it differs from the default. */
  readonly name: string;
  readonly isOwn: boolean;
  /** null when it is not installed. */
  readonly version: string | null;
  readonly install: string;
  /** The command that crawls the site from its seeds, working in an empty folder. */
  command(dir: string, seeds: readonly string[]): string[];
}

export interface Installed {
  /** Where `@crawlee/cheerio` is installed. */
  readonly crawlee: string;
  /** A Python that has Scrapy. */
  readonly python: string;
}

const LEAN = 'parsefilter-main-content,parsefilter-noise-links';

/** What a command prints that matches; null when it does not run or prints nothing like it. */
function printed(command: string, args: readonly string[], pattern: RegExp): string | null {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? (pattern.exec(`${stdout}${stderr}`)?.[1] ?? null) : null;
}

/** Version of a package in a folder; null where it is not installed. */
export function versionIn(folder: string, name: string): string | null {
  try {
    const file = createRequire(join(folder, 'package.json')).resolve(`${name}/package.json`);
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  } catch {
    return null;
  }
}

export const crawleeCommand = (plan: CrawleePlan): string[] => [
  process.execPath,
  fileURLToPath(new URL('./crawlee-child.js', import.meta.url)),
  JSON.stringify(plan),
];

const incrawl = (name: string, protocol: string, without: string): Program => ({
  name,
  isOwn: true,
  version: '',
  install: '',
  command: (dir, seeds) => crawlCommand({ dir, seeds, protocol, without }),
});

/** incrawl by its two transports and lean, then the others. */
export function programs({ crawlee, python }: Installed): Program[] {
  return [
    incrawl('', 'http', ''),
    incrawl('undici', 'undici', ''),
    incrawl('without main content and noise links', 'http', LEAN),
    {
      name: 'Crawlee',
      isOwn: false,
      version: versionIn(crawlee, '@crawlee/cheerio'),
      install: 'npm install --prefix FOLDER @crawlee/cheerio, then --crawlee FOLDER',
      command: (_dir, seeds) => crawleeCommand({ folder: crawlee, seeds, concurrency: seeds.length }),
    },
    {
      name: 'Scrapy',
      isOwn: false,
      version: printed(python, ['-m', 'scrapy', 'version'], /Scrapy ([\d.]+)/),
      install: 'python3 -m venv FOLDER && FOLDER/bin/pip install scrapy, then --python FOLDER/bin/python',
      command: (_dir, seeds) => [
        ...[python, '-m', 'scrapy', 'runspider', join(ROOT, 'bench/peers/spider.py')],
        ...['-a', `seeds=${seeds.join(',')}`],
        ...['-s', 'ROBOTSTXT_OBEY=True', '-s', 'DOWNLOAD_DELAY=0', '-s', 'CONCURRENT_REQUESTS_PER_DOMAIN=1'],
        ...['-s', 'LOG_LEVEL=ERROR', '-s', 'TELNETCONSOLE_ENABLED=False'],
      ],
    },
    {
      name: 'wget2',
      isOwn: false,
      version: printed('wget2', ['--version'], /Wget2 ([\d.]+)/),
      install: 'apt-get install wget2',
      command: (dir, seeds) => [
        ...['wget2', '--recursive', '--level=0', '--span-hosts', '--tries=1', '--quiet'],
        ...[`--domains=${seeds.map((seed) => new URL(seed).hostname).join(',')}`],
        ...[`--max-threads=${seeds.length}`, '--compression=gzip,br', `--directory-prefix=${dir}`, ...seeds],
      ],
    },
    {
      name: 'HTTrack',
      isOwn: false,
      version: printed('httrack', ['--version'], /version ([\d.-]+)/i),
      install: 'apt-get install httrack',
      command: (dir, seeds) => [
        ...['httrack', ...seeds, '--path', dir, '--quiet', '--do-not-log', '--keep-alive', '--robots=2'],
        ...['--disable-security-limits', '--max-rate=0', '--connection-per-second=0', `--sockets=${seeds.length}`],
        // Only the hosts of the site: nothing of the pages' images and style sheets elsewhere.
        ...['-*', ...seeds.map((seed) => `+${new URL(seed).host}/*`)],
      ],
    },
  ];
}
