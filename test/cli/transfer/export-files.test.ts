import {
  createReadStream,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CDXIndexer, WARCParser } from 'warcio';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const WORDS = 'Words enough for the content of a page, which says something, and then something else again.';
const page = (title: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${WORDS}</p><ul><li>One<li><a href="/">Two</a></ul></main></html>`;

let site: ChangingSite;
const cwd = workDir();
const network = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
const url = (path: string): string => `${site.origin}${path}`;
const folder = (): string => `http_127.0.0.1_${new URL(site.origin).port}`;
const PATHS = ['/', '/docs/a.html', '/docs/%E4%BD%A0', '/q?x=1,,,2&Y=%2F', '/note.txt', '/goes.html'];
let between = '';

beforeAll(async () => {
  site = await startChangingSite(
    Object.fromEntries(
      PATHS.map((path) => [path, path.endsWith('.txt') ? `Plain *text* ${WORDS}` : page(`At ${path}`)]),
    ),
  );
  await prepare(['crawl', ...PATHS.map(url), ...network], { cwd });
  between = new Date().toISOString();
});
afterAll(() => site.close());

const filesOf = (dir: string): string[] =>
  readdirSync(join(cwd, dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(cwd, dir).length + 1))
    .sort();

/** What a reader that is not ours finds in a file from an offset on. */
async function recordsAt(file: string, offset = 0, length?: number) {
  const found: { type: string | null; url: string | null; status: string | null; body: string }[] = [];
  const end = length === undefined ? {} : { end: offset + length - 1 };
  for await (const record of new WARCParser(createReadStream(file, { start: offset, ...end }))) {
    const body = Buffer.from(await record.readFully(true)).toString();
    found.push({
      type: record.warcType ?? null,
      url: record.warcTargetURI ?? null,
      status: String(record.httpHeaders?.statusline.match(/ (\d+)/)?.[1]),
      body,
    });
  }
  return found;
}

describe('export --format warc', () => {
  it('is read by a WARC reader that is not ours, from the front and through its index', async () => {
    const summary = await json(['export', '--format', 'warc', '-o', 'pages.warc.gz'], { cwd });
    expect(summary).toMatchObject({ documents: PATHS.length, removed: 0 });
    const file = join(cwd, 'pages.warc.gz');
    const all = await recordsAt(file);
    expect(all.map(({ type }) => type)).toEqual(['warcinfo', ...PATHS.map(() => 'response')]);
    const info = all[0]?.body.split('\r\n') ?? [];
    expect(info).toEqual([
      expect.stringMatching(/^software: incrawl\/\d/),
      expect.stringMatching(/^hostname: \S+$/),
      expect.stringMatching(/^http-header-user-agent: incrawl\/\S+$/),
      'robots: classic',
      'format: WARC File Format 1.1',
      expect.stringMatching(/^conformsTo: https:/),
      '',
    ]);
    const lines = readFileSync(join(cwd, 'pages.cdxj'), 'utf8').trim().split('\n');
    expect(lines).toEqual([...lines].sort());
    expect(lines).toHaveLength(PATHS.length);
    for (const line of lines) {
      const fields = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>;
      const [record] = await recordsAt(
        join(cwd, fields.filename as string),
        Number(fields.offset),
        Number(fields.length),
      );
      expect(record).toMatchObject({ type: 'response', url: fields.url, status: '200' });
      const path = (fields.url as string).slice(site.origin.length);
      expect(record?.body).toBe(site.pages.get(path));
    }
  });

  it('names the operator, and what was asked of servers, in each file', async () => {
    const place = ['--format', 'warc', '-o', 'named/'];
    await prepare(['export', ...place, '-D', 'agent.contact=me@example.org', '-D', 'agent.name=mybot'], { cwd });
    const file = filesOf('named').find((name) => name.endsWith('.warc.gz')) ?? '';
    const [info] = await recordsAt(join(cwd, 'named', file));
    expect(info?.body).toMatch(/^operator: me@example\.org\r$/m);
    expect(info?.body).toMatch(/^http-header-user-agent: mybot\/\S+ \(\+me@example\.org\)\r$/m);
  });

  it('has the index that another indexer makes of it', async () => {
    await prepare(['export', '--format', 'warc', '-o', 'again.warc.gz'], { cwd });
    const reader = createReadStream(join(cwd, 'again.warc.gz'));
    const theirs: unknown[] = [];
    for await (const entry of new CDXIndexer().iterIndex([{ filename: 'again.warc.gz', reader }])) theirs.push(entry);
    const ours = readFileSync(join(cwd, 'again.cdxj'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => {
        const [urlkey, timestamp] = line.split(' ', 2);
        const { status, offset, length, ...fields } = JSON.parse(line.slice(line.indexOf('{')));
        const numbers = { status: Number(status), offset: Number(offset), length: Number(length) };
        return { urlkey, timestamp, ...fields, ...numbers };
      });
    expect(ours).toHaveLength(PATHS.length);
    expect(theirs).toEqual(expect.arrayContaining(ours));
    expect(theirs).toHaveLength(ours.length);
  });

  it('goes to standard output, too', async () => {
    const { stdout } = await run(['export', '--format', 'warc', '--host', 'nobody.example'], { cwd });
    expect(stdout.length).toBeGreaterThan(100);
  });
});

describe('export --format tree and markdown', () => {
  it('gives each page a file, names them in a list, and takes away what went away', async () => {
    await run(['export', '--format', 'tree', '-o', 'tree', '--quiet'], { cwd });
    const files = filesOf('tree');
    expect(files).toHaveLength(PATHS.length + 1);
    expect(files).toEqual(expect.arrayContaining([`${folder()}/docs/a.html`, `${folder()}/note.txt`, 'index.jsonl']));
    expect(readFileSync(join(cwd, 'tree', folder(), 'docs/a.html'), 'utf8')).toBe(site.pages.get('/docs/a.html'));
    await prepare(['export', '--format', 'markdown', '-o', 'notes', '--quiet'], { cwd });
    expect(filesOf('notes')).toEqual(
      expect.arrayContaining([`${folder()}/goes.html.md`, `${folder()}/docs/a.html.md`]),
    );
    expect(filesOf('notes')).toHaveLength(PATHS.length + 1);
    expect(readFileSync(join(cwd, 'notes', folder(), 'index.md'), 'utf8')).toContain(
      `\n# At /\n\n${WORDS}\n\n- One\n- [Two](index.md)\n`,
    );
    site.pages.delete('/goes.html');
    site.pages.set('/docs/a.html', page('Anew'));
    await prepare(['due', 'touch', url('/goes.html'), url('/docs/a.html')], { cwd });
    await prepare(['crawl', ...network], { cwd });
    for (const [format, place] of [
      ['tree', 'tree'],
      ['markdown', 'notes/'],
    ] as const) {
      const reported = await json(['export', '--format', format, '-o', place, '--since', between], { cwd });
      expect(reported).toMatchObject({ documents: 1, removed: 1 });
      expect(filesOf(place)).toHaveLength(PATHS.length);
      const list = readFileSync(join(cwd, place, 'index.jsonl'), 'utf8')
        .trim()
        .split('\n');
      expect(list).toHaveLength(PATHS.length + 2);
      expect(JSON.parse(list.at(-1) as string)).toMatchObject({ deleted: url('/goes.html') });
    }
    expect(readFileSync(join(cwd, 'tree', folder(), 'docs/a.html'), 'utf8')).toBe(site.pages.get('/docs/a.html'));
    expect(existsSync(join(cwd, 'notes', folder(), 'goes.html.md'))).toBe(false);
  });

  it('markdown goes into one stream as well; a tree wants a folder', async () => {
    const { stdout } = await run(['export', '--format', 'markdown'], { cwd });
    expect(stdout.match(/^---\nurl: /gm)).toHaveLength(PATHS.length - 1);
    const { code, stderr } = await run(['export', '--format', 'tree'], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'incrawl: --format tree needs --output, a folder\n' });
  });
});

describe('where an export goes', () => {
  it('behind a link the file is replaced, and the link stays', async () => {
    writeFileSync(join(cwd, 'real.jsonl'), 'before\n');
    symlinkSync('real.jsonl', join(cwd, 'latest.jsonl'));
    expect((await run(['export', '-o', 'latest.jsonl', '--quiet'], { cwd })).code).toBe(0);
    expect(lstatSync(join(cwd, 'latest.jsonl')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(cwd, 'real.jsonl'), 'utf8')).toMatch(/^\{/);
  });

  it.each(['jsonl', 'csv', 'markdown'])(
    'a file of %s that cannot be written is an error with its reason',
    async (format) => {
      const { code, stderr } = await run(['export', '--format', format, '-o', 'absent/pages.out'], { cwd });
      expect({ code, stderr }).toEqual({ code: 1, stderr: 'incrawl: there is no folder absent; create it first\n' });
    },
  );
});
