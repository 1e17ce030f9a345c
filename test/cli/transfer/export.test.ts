import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startScripted } from '../../site/scripted-server.ts';
import { afterThisTest } from '../../support/ends.ts';
import { json, prepare, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const WORDS = 'Words enough for the content of a page, which says something, and then something else again.';
const page = (title: string, words = WORDS): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${words}</p></main></html>`;

let site: ChangingSite;
const cwd = workDir();
const network = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
const url = (path: string): string => `${site.origin}${path}`;
const PATHS = ['/same', '/changes', '/goes', '/moves', '/formula', '/returns'];
let between = '';

async function visitAgain(paths: readonly string[]): Promise<void> {
  await prepare(['due', 'touch', ...paths.map(url)], { cwd });
  await prepare(['crawl', ...network], { cwd });
}

beforeAll(async () => {
  site = await startChangingSite({
    '/same': page('Same'),
    '/changes': page('Before'),
    '/goes': page('Goes'),
    '/moves': page('Moves'),
    '/formula': page('=HYPERLINK(&quot;http://x&quot;)', `${WORDS} "quoted", and, commas`),
    '/returns': page('Returns'),
  });
  await prepare(['crawl', ...PATHS.map(url), ...network], { cwd });
  site.pages.delete('/returns');
  await visitAgain(['/returns']);
  between = new Date().toISOString();
  site.pages.set('/changes', page('After', `Other words. ${WORDS}`));
  site.pages.delete('/goes');
  site.pages.set('/moves', '/same');
  site.pages.set('/returns', page('Returns'));
  await visitAgain(PATHS);
});
afterAll(() => site.close());

interface Line {
  readonly url?: string;
  readonly deleted?: string;
  readonly state?: string;
  readonly target?: string;
  readonly title?: string;
}
const linesOf = (text: string): Line[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

describe('export', () => {
  it('writes each page once, with the content that it has now', async () => {
    const { stdout } = await run(['export'], { cwd });
    const lines = linesOf(stdout);
    expect(lines.map((line) => line.url).sort()).toEqual(['/changes', '/formula', '/returns', '/same'].map(url));
    expect(lines.find((line) => line.url === url('/changes'))?.title).toBe('After');
  });

  it('since a time: changed, returned and removed pages', async () => {
    const { stdout } = await run(['export', '--since', between], { cwd });
    const lines = linesOf(stdout);
    expect(lines.flatMap((line) => line.url ?? []).sort()).toEqual(['/changes', '/returns'].map(url));
    expect(lines.filter((line) => line.deleted !== undefined)).toEqual([
      { deleted: url('/goes'), state: 'gone' },
      { deleted: url('/moves'), state: 'redir_perm', target: url('/same') },
    ]);
    const { seq } = await json<{ seq: number }>(['export', '--since', between, '-o', 'some.jsonl'], { cwd });
    expect(await json(['export', '--since', `${seq}`, '-o', 'none.jsonl'], { cwd })).toMatchObject({
      documents: 0,
    });
    const last = await json<{ documents: number; removed: number }>(
      ['export', '--since', `${seq - 1}`, '-o', 'one.jsonl'],
      { cwd },
    );
    expect(last.documents + last.removed).toBe(1);
    const later = await json(['export', '--since', new Date().toISOString(), '-o', 'none.jsonl'], { cwd });
    expect(later).toMatchObject({ documents: 0, removed: 0, bytes: 0, file: 'none.jsonl' });
    expect(readFileSync(join(cwd, 'none.jsonl'), 'utf8')).toBe('');
  });

  it('no cell of a csv file is a formula', async () => {
    const summary = await json(['export', '--format', 'csv', '--since', '2001-01-01', '-o', 'pages.csv'], { cwd });
    expect(summary).toMatchObject({ format: 'csv', documents: 4, removed: 2 });
    expect(readFileSync(join(cwd, 'pages.csv'), 'utf8')).toContain(`,"'=HYPERLINK(""http://x"")",`);
  });

  it('a file appears when it is complete, or not at all', async () => {
    writeFileSync(join(cwd, 'kept.csv'), 'old');
    const broken = await run(['export', '--format', 'csv', '-o', 'kept.csv', '--status', 'fetchd'], { cwd });
    expect(broken.code).toBe(2);
    mkdirSync(join(cwd, 'folder'));
    const refused = await run(['export', '-o', 'folder'], { cwd });
    expect(refused.code).toBe(1);
    expect(existsSync(join(cwd, 'folder.partial'))).toBe(false);
    expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([]);
    expect(readFileSync(join(cwd, 'kept.csv'), 'utf8')).toBe('old');
  });

  it('goes to a webhook, signed, and to a search engine that refuses', async () => {
    const server = await startScripted(({ path, body }) =>
      path === '/hook'
        ? { status: 204 }
        : {
            status: 200,
            body: JSON.stringify({
              errors: true,
              items: body
                .match(/^\{"(?:index|delete)"/gm)
                ?.map(() => ({ index: { status: 400, error: 'no \u001b[31m' } })),
            }),
          },
    );
    try {
      vi.stubEnv('INCRAWL_WEBHOOK_SECRET', 'secret');
      afterThisTest(vi.unstubAllEnvs);
      const args = ['export', '--format', 'webhook', '-o', `${server.origin}/hook`, '--since', between];
      expect(await json(args, { cwd })).toMatchObject({ documents: 2, removed: 2, bytes: 0 });
      const [message] = server.received;
      expect(message?.headers['webhook-signature']).toMatch(/^v1,/);
      const { pages, deleted } = JSON.parse(message?.body ?? '') as { pages: Line[]; deleted: Line[] };
      expect(pages.map((page) => page.url).sort()).toEqual(['/changes', '/returns'].map(url));
      expect(deleted.map((page) => page.url)).toEqual(['/goes', '/moves'].map(url));
      const refused = await run(['export', '--format', 'opensearch', '-o', `${server.origin}/pages`], { cwd });
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('the server refused 4 documents');
      expect(refused.stderr).not.toContain('\u001b');
    } finally {
      await server.close();
    }
  });

  it('stopped by a signal, it removes the unfinished output', async () => {
    const own = workDir();
    for (const folder of ['conf/plugins/exporter-slow', 'out']) mkdirSync(join(own, folder), { recursive: true });
    writeFileSync(
      join(own, 'conf/plugins/exporter-slow/plugin.ts'),
      `import { definePlugin } from 'incrawl/plugin';
       export default definePlugin({ name: 'exporter-slow', api: 1, setup: () => ({ format: 'slow', fileExtension: 'txt', open: ({ write }) => ({
         document: async () => {
           await write('a line');
           stop();
         },
         removed: () => {}, close: () => {} }) }) });`,
    );
    const list = 'protocol-http, parse-html, signature-simhash, schedule-freshness, exporter-slow';
    writeFileSync(join(own, 'conf/plugins.yaml'), `plugins: [${list}]`);
    const args = ['export', '--format', 'slow', '-o', 'out/pages.txt', '--dir', join(cwd, 'crawldb')];
    const running = start(args, { cwd: own });
    vi.stubGlobal('stop', running.stop);
    afterThisTest(vi.unstubAllGlobals);
    const { code, stdout, stderr } = await running.finished;
    expect({ code, stdout }).toEqual({ code: 11, stdout: '' });
    expect(stderr).toContain('Stopping');
    expect(readdirSync(join(own, 'out'))).toEqual([]);
  });

  it('the exporter of the documentation works', async () => {
    const docs = readFileSync(new URL('../../../docs/exporting.md', import.meta.url), 'utf8');
    mkdirSync(join(cwd, 'conf/plugins/exporter-sizes'), { recursive: true });
    writeFileSync(join(cwd, 'conf/plugins/exporter-sizes/plugin.ts'), /```ts\n(.*?)```/s.exec(docs)?.[1] ?? '');
    const list = 'protocol-http, parse-html, signature-simhash, schedule-freshness, exporter-sizes';
    writeFileSync(join(cwd, 'own.yaml'), `plugins: [${list}]`);
    const { stdout } = await prepare(['export', '--format', 'sizes', '-D', `plugins.file=${join(cwd, 'own.yaml')}`], {
      cwd,
    });
    expect(stdout.trim().split('\n')).toHaveLength(4);
    expect(stdout).toContain(`${url('/same')} ${site.pages.get('/same')?.length}\n`);
  });

  it('a listed plugin goes before the bundled one, and its error is reported', async () => {
    const own = workDir();
    await prepare(['inject', 'http://example.org/'], { cwd: own });
    for (const folder of ['conf', 'plugins/exporter-csv']) mkdirSync(join(own, folder), { recursive: true });
    writeFileSync(
      join(own, 'plugins/exporter-csv/plugin.ts'),
      `import { definePlugin } from 'incrawl/plugin';
       export default definePlugin({ name: 'exporter-csv', api: 1, setup: () => ({
         format: 'csv', fileExtension: 'csv', open: () => { throw new Error('not today'); } }) });`,
    );
    writeFileSync(
      join(own, 'conf/plugins.yaml'),
      'plugins: [protocol-http, parse-html, signature-simhash, schedule-freshness, { use: ../plugins/exporter-csv }]',
    );
    const reported = await run(['export', '--format', 'csv'], { cwd: own });
    expect(reported).toMatchObject({ code: 1, stdout: '' });
    expect(reported.stderr).toContain('exporter csv: not today');
    const unknown = await run(['export', '--format', 'cvs'], { cwd: own });
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('did you mean csv?');
  });
});
