import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadSqlite } from '../../../plugins/exporter-sqlite/engine.ts';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { type ChangingSite, startChangingSite } from '../../cli/support/changing-site.ts';
import { workDir } from '../../support/work-dir.ts';
import { sh } from '../integration/installed.ts';
import { BINARY, run } from '../support/binary.ts';

const ROOT = resolve(import.meta.dirname, '../../../examples');
const words = (seed: string): string => Array.from({ length: 120 }, (_, i) => `${seed}${(i * 7919) % 1009}`).join(' ');
const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1>${body}</main></html>`;

/** A folder with the program on the PATH, as after an installation. */
const bin = workDir();
writeFileSync(join(bin, 'incrawl'), `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`, { mode: 0o755 });

let site: ChangingSite | null = null;
afterEach(async () => {
  await site?.close();
  site = null;
});

interface Example {
  readonly cwd: string;
  readonly site: ChangingSite;
  /** Runs the script as a user does, on pages of this machine. */
  script(env?: Readonly<Record<string, string>>): Promise<string>;
  /** Brings the next visit of pages forward. */
  touch(...paths: string[]): Promise<void>;
}

/** A copy of an example whose seed is on a site of this machine. */
async function copied(name: string, script: string, seed: string, pages: Record<string, string>): Promise<Example> {
  const opened = await startChangingSite(pages);
  site = opened;
  const cwd = join(workDir(), name);
  cpSync(join(ROOT, name), cwd, { recursive: true });
  writeFileSync(join(cwd, 'seeds.txt'), `${opened.origin}${seed}\n`);
  const env = { ...(process.env as Record<string, string>), PATH: `${bin}${delimiter}${process.env.PATH}` };
  return {
    cwd,
    site: opened,
    async script(more = {}) {
      const command = `./${script} --allow 127.0.0.1 --delay 0`;
      const { code, output } = await sh(command, cwd, { ...env, ...more });
      expect(code, output).toBe(0);
      return output;
    },
    async touch(...paths) {
      const { code, stderr } = await run(['due', 'touch', ...paths.map((path) => `${opened.origin}${path}`)], { cwd });
      expect(code, stderr).toBe(0);
    },
  };
}

describe('examples', { timeout: 120_000 }, () => {
  it('mail-changes: the first run mails nothing, a later one what changed, and that once', async () => {
    const { cwd, site, script, touch } = await copied('mail-changes', 'watch.sh', '/', {
      '/': page('Front', '<a href="/a">A</a><a href="/b">B</a><a href="/c">C</a>'),
      '/a': page('Page A', words('a')),
      '/b': page('Page B', words('b')),
      '/c': page('Page C', words('c')),
    });
    const outbox = join(cwd, 'outbox');
    writeFileSync(join(cwd, 'sendmail'), `#!/bin/sh\n[ "$1" = -t ] && cat >> "${outbox}"\n`, { mode: 0o755 });
    const env = { MAILTO: 'you@example.net', SENDMAIL: join(cwd, 'sendmail') };
    await script(env);
    expect(existsSync(outbox)).toBe(false);
    site.pages.set('/a', page('Page A\r\nBcc: all@example.net', words('other')));
    site.pages.delete('/b');
    await touch('/a', '/b', '/c');
    await script(env);
    const mail = readFileSync(outbox, 'utf8');
    expect(mail).toMatch(/^To: you@example\.net\nSubject: 2 changes on 127\.0\.0\.1:\d+\nMIME-Version: 1\.0\n/);
    expect(mail.split('\n\n')[0]).not.toContain('Bcc');
    expect(mail).toContain(`modified: Page A Bcc: all@example.net\n  ${site.origin}/a\n  in `);
    expect(mail).toContain(`gone: Page B\n  ${site.origin}/b\n`);
    await script(env);
    expect(readFileSync(outbox, 'utf8')).toBe(mail);
    expect((await sh('./watch.sh', cwd, { PATH: process.env.PATH ?? '' })).output).toContain('to whom?');
  });

  it('docs-mirror: a folder of Markdown follows the part of the site that the rules name', async () => {
    const { cwd, site, script, touch } = await copied('docs-mirror', 'mirror.sh', '/docs/', {
      '/docs/': page('Docs', '<a href="/docs/a">A</a><a href="/docs/b">B</a><a href="/blog">Blog</a>'),
      '/docs/a': page('Page A', `<h2>Install</h2><p>${words('a')}</p>`),
      '/docs/b': page('Page B', `<p>${words('b')}</p>`),
      '/blog': page('Blog', words('blog')),
    });
    const files = (): string[] =>
      readdirSync(join(cwd, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
    const textOf = (end: string): string =>
      files()
        .filter((name) => name.includes(end))
        .map((name) => readFileSync(join(cwd, 'docs', name), 'utf8'))
        .join();
    await script();
    expect(files()).toHaveLength(3);
    expect(textOf('a')).toMatch(/^## Install$/m);
    site.pages.set('/docs/a', page('Page A', `<h2>Upgrade</h2><p>${words('other')}</p>`));
    site.pages.delete('/docs/b');
    await touch('/docs/a', '/docs/b');
    await script();
    expect(files()).toHaveLength(2);
    expect(textOf('a')).toMatch(/^## Upgrade$/m);
    expect(site.requests.filter((each) => each.includes('/blog'))).toEqual([]);
  });

  it('price-watch: prices that changed are printed, with the plugin of the folder', async () => {
    const priced = (amount: string): string =>
      `<p>${words('lamp')}</p><span itemprop="price" content="${amount}"></span><meta itemprop="priceCurrency" content="EUR">`;
    const { site, script, touch } = await copied('price-watch', 'prices.sh', '/lamps', {
      '/lamps': page('Lamps', '<a href="/lamp/1">1</a><a href="/lamp/2">2</a>'),
      '/lamp/1': page('Lamp 1', priced('19.90')),
      '/lamp/2': page('Lamp 2', priced('40')),
    });
    expect(await script()).toBe('');
    site.pages.set('/lamp/1', page('Lamp 1', priced('14.90')));
    await touch('/lamp/1', '/lamp/2');
    expect(await script()).toBe(`19.9 -> 14.9 EUR  Lamp 1  ${site.origin}/lamp/1\n`);
    expect(await script()).toBe('');
  });

  const openSqlite = ((): ReturnType<typeof loadSqlite> | null => {
    try {
      return loadSqlite();
    } catch {
      return null;
    }
  })();
  it.skipIf(openSqlite === null)('search-index: a file to search in (skipped without SQLite)', async () => {
    const { cwd, site, script, touch } = await copied('search-index', 'index.sh', '/', {
      '/': page('Front', '<a href="/a">A</a><a href="/b">B</a>'),
      '/a': page('Page A', `needle ${words('a')}`),
      '/b': page('Page B', `needle ${words('b')}`),
    });
    const found = (): unknown => {
      const db = openSqlite!(join(cwd, 'pages.sqlite'));
      const query = `SELECT group_concat(url, ' ') AS urls FROM pages JOIN search ON search.rowid = pages.id WHERE search MATCH 'needle'`;
      const { urls } = db.get(query) ?? {};
      db.close();
      return urls;
    };
    await script();
    expect(String(found()).split(' ').sort()).toEqual(['/a', '/b'].map((path) => `${site.origin}${path}`));
    await script();
    site.pages.delete('/b');
    site.pages.set('/a', page('Page A', `needle ${words('other')}`));
    await touch('/a', '/b');
    await script();
    expect(found()).toBe(`${site.origin}/a`);
  });
});

describe('the files of the examples', () => {
  const folders = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isDirectory());

  it.each(folders.map(({ name }) => name))('%s names no real site, and is in the table', (name) => {
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(`[${name}](${name}/`);
    const seeds = readFileSync(join(ROOT, name, 'seeds.txt'), 'utf8');
    expect(seeds.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
    expect(seeds).toMatch(/^# https:\/\/(?:(?:members\.)?example\.org|shop\.example)\//m);
  });

  it.each(['docs-mirror', 'price-watch', 'members'])('the plugins of %s are the shipped ones and its own', (name) => {
    const { plugins } = parse(readFileSync(join(ROOT, name, 'conf/plugins.yaml'), 'utf8')) as { plugins: unknown[] };
    const names = plugins.map((each) => (typeof each === 'string' ? each : Object.keys(each as object)[0]));
    const shipped = names.map((each) => (each === 'protocol-form-login' ? 'protocol-http' : each));
    expect(shipped.filter((each) => each !== 'parsefilter-price')).toEqual(
      DEFAULT_PLUGIN_LIST.entries.map(({ use }) => use),
    );
  });
});
