import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

/** A parser of JSON whose links are made by an expression over `value`. */
const parser = (links: string): string => `import { definePlugin } from 'incrawl/plugin';
export default definePlugin({
  name: 'parse-mine',
  api: 1,
  setup: () => ({
    types: ['application/json'],
    parse: (page) => {
      const value = JSON.parse(page.content);
      page.result.text = page.content;
      page.result.outlinks = ${links};
    },
  }),
});
`;
const WHOLE = `value.link === undefined ? [] : [{ url: value.link, anchor: '', rel: 'link', nofollow: false }]`;

/** A plugin as \`plugins new\` writes it, in a folder of its own that knows no package. */
async function made(plugin?: string): Promise<string> {
  const dir = workDir();
  const folder = join(dir, 'parse-mine');
  await prepare(['plugins', 'new', 'parse-mine', dir]);
  if (plugin !== undefined) writeFileSync(join(folder, 'plugin.ts'), plugin);
  return folder;
}

describe('plugins test', () => {
  it('runs the test that "plugins new" writes', async () => {
    const folder = await made();
    const { code, stdout } = await run(['plugins', 'test', folder]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'parse-mine meets the contract of its kind, parse.\n' +
        `Its own tests pass: 1, in ${join(folder, 'plugin.test.ts')}.\n`,
    });
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('\n    incrawl plugins test parse-mine\n');
  });

  it('ends with 1 where a test fails, and where the file has none', async () => {
    const folder = await made();
    const file = join(folder, 'plugin.test.ts');
    writeFileSync(file, `import { test } from 'node:test';\ntest('adds', () => { throw new Error('not 3'); });\n`);
    const failed = await json<{ tests: object }>(['plugins', 'test', folder], { code: 1 });
    expect(failed.tests).toMatchObject({ isPassed: false, tests: 1, report: expect.stringContaining('not 3') });
    writeFileSync(file, 'export {};\n');
    expect(await run(['plugins', 'test', folder])).toMatchObject({
      ...{ code: 1, stdout: expect.stringContaining('has no test that node:test can run') },
    });
  });

  it('finds a link without one of its fields', async () => {
    const folder = await made(parser(`[{ url: value.link, anchor: '', nofollow: false }]`));
    expect(await run(['plugins', 'test', folder])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('a list of links with url, anchor, rel and nofollow') },
    });
  });

  it('tries a page of the author, which may be the only one that a parser takes', async () => {
    const folder = await made(parser(`value.only.map((url) => ({ url, anchor: '', nofollow: false }))`));
    expect((await run(['plugins', 'test', folder])).code).toBe(0);
    const body = join(folder, 'page.json');
    writeFileSync(body, '{"only": ["/a"]}');
    expect((await run(['plugins', 'test', folder, '--body', body])).code).toBe(2);
  });

  it('relative links are resolved against the page, in "check parse" as in a crawl', async () => {
    const folder = await made(parser(WHOLE));
    expect((await run(['plugins', 'test', folder])).code).toBe(0);
    const dir = join(folder, '..');
    const shipped = readFileSync(new URL('../../../conf/plugins.yaml', import.meta.url), 'utf8').replace(
      /^ *- urlfilter-rules.*$/m,
      '',
    );
    writeFileSync(join(dir, 'plugins.yaml'), `${shipped}\n  - ${folder}\n`);
    writeFileSync(join(dir, 'incrawl.yaml'), 'agent: { name: incrawl }\n');
    const page = join(dir, 'page.json');
    writeFileSync(page, '{"link": "../b?c=1"}');
    const checked = await json<{ outlinks: { url: string }[] }>(
      ['check', 'parse', page, '--url', 'https://example.org/x/y/z.json', '--content-type', 'application/json'],
      { cwd: dir },
    );
    expect(checked.outlinks.map(({ url }) => url)).toEqual(['https://example.org/x/b?c=1']);
  });
});
