import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/core/steps/round-summary.ts';
import type { Explanation } from '../../../src/crawler/index.ts';
import type { AppliedFamilies, UndoneFamilies } from '../../../src/crawler/views.ts';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json, run } from '../../support/program.ts';
import { SHIPPED_PLUGINS } from '../../support/shipped-plugins.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const PROSE =
  'A paragraph that is long enough to be taken for the content of its page, as it says a good deal about its subject. ';
const WORDS = 'harbour winter council orchard railway museum festival weather library bridge garden market'.split(' ');
const ARTICLES = 48;
const slug = (id: number): string => `${WORDS[id % 12]}-${WORDS[(id * 5 + 3) % 12]}-${WORDS[(id * 7 + 1) % 12]}`;
const articlePath = (id: number): string => (id === 0 ? '/' : `/news/2024/${slug(id)}-${1_000 + id}.html`);

/**
 * Articles that link to three others each from their text. Around it every page has adverts, a login and tags of its
 * own; later articles have an advert in their text as well, which no place on the page gives away.
 */
const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (path === '/robots.txt') {
    response.writeHead(404).end();
    return;
  }
  response.setHeader('content-type', 'text/html; charset=utf-8');
  const named = /-(\d+)\.html$/.exec(path)?.[1];
  if (path !== '/' && named === undefined) {
    response.end(`<!doctype html><title>${path}</title><main><p>${PROSE.repeat(3)} This is about ${path}.</main>`);
    return;
  }
  const id = named === undefined ? 0 : Number(named) - 1_000;
  const next = [1, 2, 3].map((n) => 3 * id + n).filter((n) => n < ARTICLES);
  const text = next.map((n) => `<p>${PROSE} See <a href="${articlePath(n)}">report ${n}</a>. ${PROSE}`).join('');
  const sold = id < 10 ? '' : `<p>${PROSE} An <a href="/ad/click?campaign=${9_000 + id}&slot=7">offer</a>. ${PROSE}`;
  const adverts = [0, 1].map((n) => `<li><a href="/ad/click?campaign=${37 * id + n}&slot=${n}">Buy ${n}</a>`);
  const tags = [0, 1].map((n) => `<a href="/tag/topic-${3 * id + n}">Tag ${n}</a>`);
  response.end(`<!doctype html><title>Report ${id}</title>
    <nav><a href="/account/login?next=%2Fnews%2F${1_000 + id}">Log in</a></nav>
    <main><article><h1>Report ${id}</h1><p>${PROSE} The ${id}th one. ${text}${sold}<p>${PROSE}</article></main>
    <aside><ul>${adverts.join('')}</ul></aside><footer>${tags.join(' ')}</footer>`);
});
const site = served(server);

/** Without the filter by which like URLs wait: it would hold back noise, too. */
const withoutLikeUrls = (): string => {
  const cwd = workDir();
  const file = join(cwd, 'all-urls.yaml');
  writeFileSync(file, SHIPPED_PLUGINS.replace(/^ *- urlfilter-similarity\n/m, ''));
  return file;
};
const plugins = withoutLikeUrls();

const NOISE = /^\/(ad|account|tag)\//;
const crawlArgs = (...more: string[]): string[] => [
  'crawl',
  `${site.origin}/`,
  ...['--allow', '127.0.0.1', '--delay', '0', '-D', `plugins.file=${plugins}`],
  ...more,
];

interface State {
  readonly content: string[];
  readonly noise: string[];
  /** Noise URLs in the crawl db that were never fetched. */
  readonly waiting: number;
}

async function stateOf(cwd: string): Promise<State> {
  const records = await json<RecordView[]>(['readdb', '--dump'], { cwd });
  const paths = (of: RecordView[]): string[] => of.map(({ url }) => url.slice(site.origin.length)).sort();
  const isNoise = ({ url }: RecordView): boolean => NOISE.test(url.slice(site.origin.length));
  const fetched = records.filter(({ httpStatus }) => httpStatus === 200);
  return {
    content: paths(fetched.filter((record) => !isNoise(record))),
    noise: paths(fetched.filter(isNoise)),
    waiting: records.filter((record) => isNoise(record) && record.httpStatus === null).length,
  };
}

interface Kept {
  readonly domain: string;
  readonly first: string;
  readonly size: number;
}

const keptIn = (cwd: string): Promise<Kept[]> => json<Kept[]>(['duplicates', 'families', '--applied'], { cwd });
const kindsOf = (kept: readonly Kept[]): string[] => [...new Set(kept.map(({ first }) => first.split('/')[1]!))].sort();

/** The state after two rounds, to begin from. */
let begun: string;
const fromThere = (): string => {
  const cwd = workDir();
  cpSync(begun, cwd, { recursive: true });
  return cwd;
};

describe('link families that are applied', () => {
  let whole: State;

  beforeAll(async () => {
    const cwd = workDir();
    await json(crawlArgs(), { cwd });
    whole = await stateOf(cwd);
    begun = workDir();
    await json(crawlArgs('--rounds', '3'), { cwd: begun });
  });

  it('without them a crawl fetches all noise', () => {
    expect(whole.content).toEqual(Array.from({ length: ARTICLES }, (_, id) => articlePath(id)).sort());
    expect(whole.noise.length).toBeGreaterThan(4 * ARTICLES);
  });

  it('are the three kinds of noise, and no content', async () => {
    const cwd = fromThere();
    const tried = await json<AppliedFamilies>(['duplicates', 'families', '--apply', '--dry-run'], { cwd });
    expect(await keptIn(cwd)).toEqual([]);
    const applied = await json<AppliedFamilies>(['duplicates', 'families', '--apply'], { cwd });
    expect(tried).toEqual({ ...applied, dryRun: true });
    expect(applied).toMatchObject({ domains: 1, removed: 0 });
    expect(kindsOf(await keptIn(cwd))).toEqual(['account', 'ad', 'tag']);
  });

  it.each(['demote', 'defer', 'drop'])('%s: every content page is fetched', async (noise) => {
    const cwd = fromThere();
    await json(['duplicates', 'families', '--apply'], { cwd });
    const set = ['-D', `linkclusters.noise=${noise}`];
    const { totals } = await json<CrawlSummary>(crawlArgs(...set), { cwd });
    const after = await stateOf(cwd);
    expect(after.content).toEqual(whole.content);
    const reason = 'linkclusters: noise family';
    const kept = whole.noise.length - after.noise.length;
    if (noise === 'demote') {
      expect(after.noise).toEqual(whole.noise);
      expect(totals.demotedBy).toMatchObject({ [reason]: expect.any(Number) });
    } else {
      expect(kept).toBeGreaterThan(whole.noise.length / 2);
      expect(after.waiting).toBe(noise === 'defer' ? kept : 0);
    }
    if (noise === 'drop') expect(totals.filteredBy).toMatchObject({ [reason]: expect.any(Number) });

    // All that they did is taken back.
    const undone = await json<UndoneFamilies>(['duplicates', 'families', '--undo', ...set], { cwd });
    expect(undone).toMatchObject({ domains: 1, restored: noise === 'drop' ? 0 : expect.any(Number) });
    expect(await keptIn(cwd)).toEqual([]);
    await json(crawlArgs(...set), { cwd });
    expect(await stateOf(cwd)).toEqual(whole);
    for (const { metadata } of await json<RecordView[]>(['readdb', '--dump'], { cwd })) {
      expect(metadata).not.toHaveProperty('linkFamily');
    }
  });

  it('with as many fetches more content is reached', async () => {
    const reached = async (apply: boolean): Promise<number> => {
      const cwd = fromThere();
      if (apply) await json(['duplicates', 'families', '--apply'], { cwd });
      await json(crawlArgs('--budget', '92', '-D', 'outlinks.noise=follow'), { cwd });
      return (await stateOf(cwd)).content.length;
    };
    expect(await reached(true)).toBeGreaterThan(await reached(false));
  });

  it('explain names the family and how like it the URL is', async () => {
    const cwd = fromThere();
    await json(['duplicates', 'families', '--apply'], { cwd });
    const of = (path: string): Promise<Explanation> => json(['explain', site.origin + path], { cwd });
    const advert = await of('/ad/click?campaign=77777&slot=3');
    expect(advert.family).toMatchObject({ leader: expect.stringContaining('/ad/click?'), treatment: 'demote' });
    expect(advert.family!.similarity).toBeGreaterThan(0.8);
    expect(advert.ifFound.join(' ')).toContain('noise family');
    expect((await of(articlePath(ARTICLES - 1))).family).toBeNull();
  });

  it('from a file of the reducer they are those of the crawl itself', async () => {
    const cwd = fromThere();
    const file = join(cwd, 'families.tsv');
    const { stdout } = await run(['duplicates', 'families', '--format', 'tsv'], { cwd });
    writeFileSync(file, stdout);
    await json(['duplicates', 'families', '--apply', file], { cwd });
    const byFile = await keptIn(cwd);
    await json(['duplicates', 'families', '--apply'], { cwd });
    const timeless = (kept: readonly Kept[]) => kept.map((each) => ({ ...each, appliedAt: null }));
    expect(timeless(byFile)).toEqual(timeless(await keptIn(cwd)));
    expect(byFile.length).toBeGreaterThan(2);
    const broken = await run(['duplicates', 'families', '--apply', '-'], {
      cwd,
      input: `${stdout}a.org\tnot a family\n`,
    });
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining(`line ${stdout.split('\n').length}`) });
    expect(timeless(await keptIn(cwd))).toEqual(timeless(byFile));
  });

  it('from several files, gzip or not, they are those of one, whatever the order', async () => {
    const cwd = fromThere();
    const lineOf = (domain: string, n: number) =>
      `${domain}\t${n}\t${9 - n}\tnoise\t0.9000\thttps://www.${domain}/${'abc'.repeat(n + 1)}/${n}`;
    const shard = (...domains: string[]): string =>
      domains.flatMap((domain) => [0, 1].map((n) => `${lineOf(domain, n)}\n`)).join('');
    mkdirSync(join(cwd, 'families'));
    writeFileSync(join(cwd, 'families/part-00000'), shard('c.org', 'a.org'));
    writeFileSync(join(cwd, 'families/part-00001.gz'), gzipSync(shard('b.org')));
    writeFileSync(join(cwd, 'families/_SUCCESS'), 'of Hadoop');
    const all = ['families/part-00001.gz', 'families/part-00000'];
    for (const args of [['families'], all]) {
      expect(await json(['duplicates', 'families', '--apply', ...args], { cwd })).toMatchObject({
        domains: 3,
        families: 6,
      });
      expect((await keptIn(cwd)).map(({ domain }) => domain)).toEqual(
        ['a', 'a', 'b', 'b', 'c', 'c'].map((d) => `${d}.org`),
      );
    }
    writeFileSync(join(cwd, 'families/part-00002'), `\n${lineOf('b.org', 2)}\n`);
    const { code, stderr } = await run(['duplicates', 'families', '--apply', 'families'], { cwd });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /part-00002, line 2: b\.org was met before, at .*part-00001\.gz, line 1: .*nothing was changed/,
      ),
    ]);
    expect(await keptIn(cwd)).toHaveLength(6);
  });

  it('survive backup, dump and load, and a domain is undone alone', async () => {
    const cwd = fromThere();
    const lines = ['a.org', 'b.org'].flatMap((domain) =>
      [0, 1].map((n) => `${domain}\t${n}\t${9 - n}\tnoise\t0.9000\thttps://www.${domain}/${'abc'.repeat(n + 1)}/${n}`),
    );
    await run(['duplicates', 'families', '--apply', '-'], { cwd, input: lines.join('\n') });
    const kept = await keptIn(cwd);
    expect(kept.map(({ domain, size }) => [domain, size])).toEqual([
      ['a.org', 9],
      ['a.org', 8],
      ['b.org', 9],
      ['b.org', 8],
    ]);
    const { stdout: dump } = await run(['db', 'export'], { cwd });
    const loaded = workDir();
    expect(await run(['db', 'import'], { cwd: loaded, input: dump })).toMatchObject({ code: 0 });
    expect(await keptIn(loaded)).toEqual(kept);
    await run(['state', 'backup', 'backup'], { cwd });
    await run(['state', 'restore', join(cwd, 'backup'), '--dir', 'restored'], { cwd });
    expect(await json(['duplicates', 'families', '--applied', '--dir', 'restored'], { cwd })).toEqual(kept);
    expect(await run(['state', 'repair'], { cwd })).toMatchObject({ code: 0 });
    expect(await json(['state', 'verify'], { cwd })).toMatchObject({ findings: [] });
    await json(['duplicates', 'families', '--undo', 'a.org'], { cwd });
    expect(await keptIn(cwd)).toEqual(kept.filter(({ domain }) => domain === 'b.org'));
  });

  it('a crawl applies them by itself every linkclusters.every', async () => {
    const cwd = workDir();
    const every = ['-D', 'linkclusters.every=1ms', '-D', 'linkclusters.noise=drop'];
    await json(crawlArgs(...every), { cwd });
    expect(kindsOf(await keptIn(cwd))).toEqual(['account', 'ad', 'tag']);
    const after = await stateOf(cwd);
    expect(after.content).toEqual(whole.content);
    expect(after.noise.length).toBeLessThan(whole.noise.length);
  });

  it('two wishes at once are refused', async () => {
    for (const args of [
      ['--apply', '--undo'],
      ['--applied', '--dry-run'],
      ['--apply', 'no-such-file'],
    ]) {
      expect(await run(['duplicates', 'families', ...args], { cwd: begun })).toMatchObject({ code: 2 });
    }
    expect((await run(['duplicates', 'families', '--apply'], { cwd: workDir() })).code).toBe(2);
  });
});
