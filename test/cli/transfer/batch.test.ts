import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { BatchExport, DedupSummary } from '../../../src/crawler/views.ts';
import { streamed } from '../../published/hadoop-streaming.ts';
import { json, prepare, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { createGate } from '../support/gate.ts';
import { served } from '../support/served.ts';

const article = (seed: number, sentences: number): string =>
  Array.from(
    { length: sentences },
    (_, i) => `Sentence ${seed * 100 + i} of article ${seed} speaks of matter ${(seed * 7 + i * 13) % 97}.`,
  ).join(' ');

/** Articles with print versions, some with a longer one too; notes with too little text; a menu of adverts. */
const gate = createGate();
let onAsked = (): void => {};
const server = createServer((request, response) => {
  const path = request.url ?? '/';
  const [, kind, number, version] = path.split('/');
  const links = [1, 2, 3, 4].flatMap((i) => [
    `/article/${i}`,
    `/article/${i}/print`,
    `/article/${i}/more`,
    `/note/${i}`,
  ]);
  const adverts = [1, 2, 3].map((i) => `<li><a href="/ad/click-${Number(number ?? 0)}${i}">Advert</a>`).join('');
  const text = article(Number(number), version === 'more' ? 60 : 30);
  const body =
    kind === ''
      ? links.map((link) => `<a href="${link}">${link}</a>`).join(' ')
      : kind === 'article'
        ? `<nav><ul>${adverts}</ul></nav><article><p>${text}</article>`
        : '<p>Little.</p>';
  const status = path === '/robots.txt' ? 404 : 200;
  onAsked();
  gate.pass(() => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(status === 404 ? '' : `<!doctype html><title>${path}</title><main>${body}</main>`);
  });
});
const site = served(server);

const CRAWL = ['--allow', '127.0.0.1', '--delay', '0', '-D', 'dedup.mode=off'];
let cwd = '';
beforeAll(async () => {
  cwd = workDir();
  await prepare(['crawl', `${site.origin}/`, ...CRAWL], { cwd });
});

const exported = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('_'))
    .flatMap((name) => linesOf(join(folder, name)));
const linesOf = (file: string): string[] => gunzipSync(readFileSync(file)).toString().split('\n').slice(0, -1);

/** The folder that a cluster leaves: parts, an empty mark of success, sums. */
function partsIn(folder: string, lines: readonly string[]): string {
  mkdirSync(folder);
  const half = Math.ceil(lines.length / 2);
  writeFileSync(
    join(folder, 'part-00000'),
    lines
      .slice(0, half)
      .map((line) => `${line}\n`)
      .join(''),
  );
  const rest = lines.slice(half).map((line) => `${line}\n`);
  writeFileSync(join(folder, 'part-00001.gz'), gzipSync(rest.join('')));
  writeFileSync(join(folder, '_SUCCESS'), '');
  writeFileSync(join(folder, '.part-00000.crc'), 'crc\0');
  return folder;
}

const CLUSTER = { pieces: 3, reducers: 4, random: Math.random };
const dumped = (dir: string): Promise<unknown> => json(['readdb', '--dump', '--dir', dir], { cwd });
const copied = (name: string): string => {
  cpSync(join(cwd, 'crawldb'), join(cwd, name), { recursive: true });
  return name;
};

describe('batches for a cluster', { sequential: true }, () => {
  it('signatures exported, compared elsewhere and applied leave the crawl that dedup leaves', async () => {
    const args = ['mr', 'export', 'signatures', '-o', 'signatures', '--shard-lines', '5'];
    const summary = await json<BatchExport>(args, { cwd });
    // Notes and adverts have too little text.
    expect(summary).toMatchObject({ kind: 'signatures', folder: 'signatures', files: 3, lines: 13 });
    expect(readdirSync(join(cwd, 'signatures'))).toEqual([0, 1, 2].map((i) => `signatures-0000${i}.tsv.gz`));
    const pairs = await streamed('dedup', exported(join(cwd, 'signatures')), CLUSTER);
    const [here, there] = [copied('here'), copied('there')];
    const built = await json<DedupSummary>(['dedup', '--dir', here], { cwd });
    expect(built.duplicates).toBeGreaterThanOrEqual(4);
    partsIn(join(cwd, 'pairs'), pairs);
    const dry = await json(['dedup', '--apply', 'pairs', '--dry-run', '--dir', there], { cwd });
    const { pages: _, short: __, ...counts } = built;
    expect(dry).toMatchObject({ ...counts, dryRun: true });
    expect(await dumped(there)).toEqual(await dumped('crawldb'));
    const applied = await json(['dedup', '--apply', 'pairs', '--dir', there], { cwd });
    expect(applied).toMatchObject({ ...counts, pairs: pairs.length, unknown: 0 });
    expect(await dumped(there)).toEqual(await dumped(here));
    expect(await json(['state', 'verify', '--dir', there], { cwd })).toMatchObject({ sound: true });
    expect(await json(['dedup', '--undo', '--dir', there], { cwd })).toMatchObject({ restored: built.marked });
  });

  it('a new batch against the library: the query set, and only pages near it', async () => {
    const { id } = (await json<{ id: string }[]>(['readseg', '--list'], { cwd })).at(1)!;
    const args = ['mr', 'export', 'signatures', '-o', 'batch', '--incoming', id];
    const summary = await json<BatchExport>(args, { cwd });
    expect(summary.query).toBeGreaterThan(0);
    const query = linesOf(join(cwd, 'batch', '_query.tsv.gz'));
    expect(query).toHaveLength(summary.query!);
    const lines = exported(join(cwd, 'batch'));
    const pairs = await streamed('dedup-incoming', lines, { ...CLUSTER, query });
    const mapped = await run(['mr', 'map', 'dedup-incoming', '--query', 'batch/_query.tsv.gz'], {
      cwd,
      input: lines.map((line) => `${line}\n`).join(''),
    });
    const reduced = await run(['mr', 'reduce', 'dedup-incoming'], {
      cwd,
      input: mapped.stdout
        .split('\n')
        .slice(0, -1)
        .sort()
        .map((line) => `${line}\n`)
        .join(''),
    });
    expect(reduced.stdout.split('\n').slice(0, -1).sort()).toEqual(pairs);
    const [here, there] = [copied('here-batch'), copied('there-batch')];
    await prepare(['dedup', '--incoming', id, '--dir', here], { cwd });
    const input = pairs.map((line) => `${line}\n`).join('');
    await prepare(['dedup', '--incoming', id, '--apply', '-', '--dir', there], { cwd, input });
    expect(await dumped(there)).toEqual(await dumped(here));
  });

  it('links exported and clustered elsewhere are the lines of linkclusters', async () => {
    await prepare(['mr', 'export', 'links', '-o', 'links', '--shard-lines', '20'], { cwd });
    const lines = exported(join(cwd, 'links'));
    expect(lines.some((line) => line.endsWith('\t1'))).toBe(true);
    const built = await run(['duplicates', 'families', '--format', 'tsv'], { cwd });
    expect(await streamed('linkclusters', lines, CLUSTER)).toEqual(built.stdout.split('\n').slice(0, -1).sort());
  });

  it('the same crawl gives the same bytes, also while a crawl runs', async () => {
    gate.closeAfter(0);
    const held = copied('held');
    await prepare(['inject', `${site.origin}/late`, '--dir', held], { cwd });
    await prepare(['mr', 'export', 'signatures', '-o', 'before', '--dir', held], { cwd });
    const asked = new Promise<void>((resolve) => {
      onAsked = resolve;
    });
    const crawl = start(['crawl', ...CRAWL, '--dir', held], { cwd });
    // A command that writes would keep the crawl from opening the crawl db, so it waits for the first request.
    await asked;
    expect((await run(['dedup', '--dir', held], { cwd })).code).toBe(5);
    await prepare(['mr', 'export', 'signatures', '-o', 'meanwhile', '--dir', held], { cwd });
    gate.open();
    crawl.stop();
    await crawl.finished;
    const name = 'signatures-00000.tsv.gz';
    expect(readFileSync(join(cwd, 'meanwhile', name))).toEqual(readFileSync(join(cwd, 'before', name)));
  });

  it.each([
    ['a folder with files', ['mr', 'export', 'links', '-o', 'links'], 'links is not empty'],
    ['options of signatures for links', ['mr', 'export', 'links', '-o', 'x', '--scope', 'all'], 'are for signatures'],
    ['no output', ['mr', 'export', 'links'], '--output'],
    ['dedup-incoming without a query set', ['mr', 'map', 'dedup-incoming'], 'needs --query'],
    ['a query set for another job', ['mr', 'map', 'dedup', '--query', 'x'], 'takes no --query'],
    ['a file that is not there', ['dedup', '--apply', 'nothing.tsv'], 'no such file: nothing.tsv'],
    ['--apply with --undo', ['dedup', '--apply', 'pairs', '--undo'], '--undo'],
  ])('refuses %s', async (_, args, message) => {
    expect(await run(args, { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('names file and line of what is no pair', async () => {
    writeFileSync(join(cwd, 'bad.tsv'), `${site.origin}/\t${site.origin}/article/1\t0\nnonsense\n`);
    const refused = await run(['dedup', '--apply', 'bad.tsv'], { cwd });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('bad.tsv, line 2') });
  });
});
