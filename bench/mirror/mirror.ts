import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { percent, sum } from '../harness/cost.ts';
import { type Bench, measurement, type Note, UsageError } from '../harness/measurement.ts';
import { CLI, withFolder } from '../harness/places.ts';
import { type TreeCost, treeCost } from '../harness/processes.ts';
import { seeded } from '../harness/seeded.ts';
import type { History } from '../histories/history.ts';
import { packsIn, readPack } from '../histories/pack.ts';
import { replay } from '../histories/replay.ts';
import { type DocumentSite, documentSite } from './document-site.ts';
import { filesOf, lookAt } from './look.ts';

const NETWORK = ['--allow', '127.0.0.1', '--delay', '0', '-q'];

/** A program that copies a site into a folder, and brings the copy up to date. */
interface Copier {
  readonly name: string;
  command(start: string, folder: string, isFirst: boolean): readonly string[];
  /** Where the copy has a page of the site. */
  fileOf(folder: string, url: string): string;
}

const placeOf = (url: string, between: string): string => {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}${between}${port}${pathname}`;
};

const COPIERS: readonly Copier[] = [
  {
    name: 'incrawl',
    command: (start, folder, isFirst) => [
      ...[process.execPath, CLI, 'mirror', ...(isFirst ? [start] : ['--all']), folder],
      ...['--dir', `${folder}-state`, ...NETWORK],
    ],
    fileOf: (folder, url) => join(folder, filesOf(folder).find((file) => file.url === url)?.file ?? 'absent'),
  },
  {
    name: 'wget',
    command: (start, folder) => ['wget', '-q', '-m', '-k', '-p', '-P', folder, start],
    fileOf: (folder, url) => join(folder, placeOf(url, ':')),
  },
  {
    name: 'HTTrack',
    command: (start, folder, isFirst) => [
      ...['httrack', ...(isFirst ? [start] : ['--update']), '-O', folder, '-q', '-I0'],
      ...['--disable-security-limits', '--max-rate=0', '--connection-per-second=0', '--sockets=8'],
    ],
    fileOf: (folder, url) => join(folder, placeOf(url, '_')),
  },
];

const OPTIONS = { docs: [] as readonly string[], data: '', shown: 20, refreshes: 10, share: 0.02 };

/**
 * Folders of documentation as sites: copied, and opened from disk beside the site; the first one then copied and
 * refreshed by other programs too, while a share of its pages changes before each refresh. Recorded years of sites
 * (`--data`): the mirror of each tenth step beside the checkout of that step.
 */
export const mirror = measurement('mirror', OPTIONS, async (bench, { docs, data, shown, refreshes, share }) => {
  for (const folder of data === '' ? [] : packsIn(data)) await measureHistory(bench.question, readPack(folder));
  if (docs.length === 0 && data === '')
    throw new UsageError('--docs FOLDER: expected a folder with an index.html; may be repeated');
  for (const folder of docs) {
    await withFolder(async (dir) => {
      const site = await documentSite(folder);
      try {
        const name = basename(folder.replace(/\/html\/?$/, ''));
        await measureCopy(bench.question(`A copy from disk: ${name}`), site, join(dir, 'copy'), shown, bench.say);
      } finally {
        await site.close();
      }
    });
  }
  if (docs.length === 0) return;
  const note = bench.question(
    `First copy and ${refreshes} refreshes, ${percent(share)} % of the pages changed each time`,
  );
  for (const copier of COPIERS) await measureRefreshes(note, copier, docs[0]!, refreshes, share);
});

async function measureCopy(
  note: Note,
  site: DocumentSite,
  copy: string,
  shown: number,
  say: (text: string) => void,
): Promise<void> {
  await run(COPIERS[0]!, site, copy, true);
  const files = filesOf(copy);
  const look = await lookAt(copy, shown);
  note('pages', files.filter(({ kind }) => kind === 'page').length);
  note('requisites', files.filter(({ kind }) => kind === 'requisite').length);
  note('pages opened', look.shown);
  note('failed requests beyond those of the site', look.failed, 'requests', '<= 0');
  note('requests to the web', look.toWeb, 'requests', '<= 0');
  note('pages that look different', look.different.length, 'pages', '<= 0');
  for (const url of look.different) say(`      ${url}`);
  note('addresses of pages in the copy that lead to the web', addressesToWeb(copy, site.origin), '', '<= 0');
}

/** Addresses in the pages of a copy that lead to pages of the site which the copy has. */
function addressesToWeb(copy: string, origin: string): number {
  const files = filesOf(copy);
  const urls = new Set(files.map(({ url }) => url));
  const found = files
    .filter(({ file }) => file.endsWith('.html'))
    .flatMap(({ file }) => readFileSync(join(copy, file), 'latin1').match(/(?:href|src)="http[^"#]*/g) ?? [])
    .map((text) => text.replace(/^[^"]*"/, ''));
  return found.filter((url) => url.startsWith(origin) && urls.has(url)).length;
}

/** Steps after which the mirror is brought up to date. */
const EVERY = 10;

/** Texts of pages that a run has visited, in the mirror and in the checkout of its step. */
async function measureHistory(question: Bench['question'], history: History): Promise<void> {
  await withFolder(async (dir) => {
    const copy = join(dir, 'copy');
    const tally = { mirrors: 0, compared: 0, other: 0, broken: 0, written: 0 };
    const plan = { history, variant: 'honest', budget: null, settings: [], address: '127.0.0.1', port: 0 } as const;
    await replay({
      ...plan,
      async onRun({ crawler, step, number, log }) {
        if (number % EVERY !== EVERY - 1) return;
        tally.written += (await crawler.mirror(copy)).written;
        tally.mirrors++;
        const files = new Map(filesOf(copy).map(({ url, file }) => [new URL(url).pathname, file]));
        for (const { uri } of log) {
          const path = decodeURI(uri).slice(1);
          const body = step.tree.get(path === '' || path.endsWith('/') ? `${path}index.html` : path);
          const file = files.get(uri);
          if (body === undefined || file?.endsWith('.html') !== true) continue;
          tally.compared++;
          const shown = readFileSync(join(copy, file), 'utf8');
          if (textOf(shown) !== textOf(history.bodies[body]!.toString())) tally.other++;
        }
        tally.broken += brokenLinks(copy);
      },
    });
    const note = question(`The mirror of each tenth step: ${history.name}`);
    note('mirrors', tally.mirrors);
    note('files written, a mirror', tally.written / tally.mirrors);
    note('pages visited in those steps', tally.compared);
    note('pages whose text is not that of the checkout', tally.other, 'pages', '<= 0');
    note('addresses that lead to a file that is not there', tally.broken, '', '<= 0');
  });
}

const textOf = (html: string): string => html.replace(/<[^>]*>/g, '');

/** Relative addresses in the pages of a copy, outside of comments, whose files are not there. */
function brokenLinks(copy: string): number {
  const pages = filesOf(copy).filter(({ file }) => file.endsWith('.html'));
  return sum(
    pages.map(({ file }) => {
      const html = readFileSync(join(copy, file), 'utf8').replace(/<!--.*?-->/gs, '');
      const local = [...html.matchAll(/ (?:href|src)="((?:\.\.\/|[^":#?/]+)[^":#?]*)(?:#[^"]*)?"/g)].map(
        ([, path]) => path!,
      );
      return local.filter((path) => path.trim() !== '' && !existsSync(join(copy, file, '..', decodeURIComponent(path))))
        .length;
    }),
  );
}

async function measureRefreshes(note: Note, copier: Copier, folder: string, refreshes: number, share: number) {
  await withFolder(async (dir) => {
    const site = await documentSite(folder);
    try {
      const copy = join(dir, 'copy');
      mkdirSync(copy);
      const first = await run(copier, site, copy, true);
      if (first === null) return;
      const pages = site.pages.filter((page) => existsSync(copier.fileOf(copy, `${site.origin}/${page}`)));
      const [random, latest, costs] = [seeded(1), new Map<string, string>(), [] as Step[]];
      for (let i = 1; i <= refreshes; i++) {
        // Dates of HTTP are whole seconds.
        await new Promise((resolve) => setTimeout(resolve, 1_100));
        const revised = pages.filter(() => random() < share);
        site.revise(revised, `The words of revision ${i}.`);
        for (const page of revised) latest.set(page, `The words of revision ${i}.`);
        const cost = await run(copier, site, copy, false);
        if (cost !== null) costs.push(cost);
      }
      const wrong = [...latest].filter(([page, text]) => !has(copier.fileOf(copy, `${site.origin}/${page}`), text));
      const say = (metric: string, value: number, unit: string, aim?: string): void =>
        note(metric, value, unit, aim, copier.name);
      say('pages in the copy', pages.length, 'pages');
      say('first copy: requests', first.requests, 'requests');
      say('first copy: CPU', first.cpuMs / 1_000, 's');
      say('a refresh: requests', sum(costs.map(({ requests }) => requests)) / refreshes, 'requests');
      say('a refresh: body bytes', sum(costs.map(({ bytes }) => bytes)) / refreshes / 1_000, 'KB');
      say('a refresh: CPU', sum(costs.map(({ cpuMs }) => cpuMs)) / refreshes / 1_000, 's');
      say('disk, with what is kept beside the copy', (sizeOf(copy) + sizeOf(`${copy}-state`)) / 1e6, 'MB');
      say('changed pages that the copy has in an older state', wrong.length, `of ${latest.size}`, '<= 0');
    } finally {
      await site.close();
    }
  });
}

type Step = TreeCost & { readonly requests: number; readonly bytes: number };

/** One run of a copier; `null`: it is not installed. */
async function run(copier: Copier, site: DocumentSite, copy: string, isFirst: boolean): Promise<Step | null> {
  const before = { ...site.counts };
  const cost = await treeCost(copier.command(site.start, copy, isFirst));
  // 127: the shell has not found it. wget ends with 8 where one file is missing on the server.
  if (cost.exitCode === 127) return null;
  return { ...cost, requests: site.counts.requests - before.requests, bytes: site.counts.bytes - before.bytes };
}

const has = (file: string, text: string): boolean => existsSync(file) && readFileSync(file, 'utf8').includes(text);

function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => statSync(join(folder, file)));
  return sum(files.map((file) => (file.isFile() ? file.size : 0)));
}
