import { existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const cwd = workDir();
const LIST = ['protocol-http', 'parse-stuck', 'signature-simhash', 'schedule-freshness'];
/** Says `stuck` and never ends for `/b.txt`, once the crawl is done. */
const PARSER = `import { existsSync, writeFileSync } from 'node:fs';
export default {
  name: 'parse-stuck',
  api: 1,
  setup: () => ({
    types: ['text/plain'],
    content: '',
    parse(page) {
      page.result.text = page.content;
      if (!page.url.endsWith('/b.txt') || !existsSync('crawled')) return;
      writeFileSync('stuck', '');
      for (;;);
    },
  }),
};
`;

/** Resolves once a file is written that was not there. */
function appears(name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(cwd, () => {
      if (!existsSync(join(cwd, name))) return;
      watcher.close();
      resolve();
    });
  });
}

let site: ChangingSite;
beforeAll(async () => {
  site = await startChangingSite({ '/a.txt': 'Words of a.', '/b.txt': 'Words of b.', '/c.txt': 'Words of c.' });
  mkdirSync(join(cwd, 'conf/plugins/parse-stuck'), { recursive: true });
  writeFileSync(join(cwd, 'conf/plugins/parse-stuck/plugin.mjs'), PARSER);
  writeFileSync(join(cwd, 'conf/plugins.yaml'), `plugins:\n${LIST.map((each) => `  - ${each}\n`).join('')}`);
  const seeds = ['/a.txt', '/b.txt', '/c.txt'].map((path) => `${site.origin}${path}`);
  const crawled = await run(['crawl', ...seeds, '--allow', '127.0.0.1', '--delay', '0', '--quiet'], { cwd });
  expect(crawled.code).toBe(0);
  writeFileSync(join(cwd, 'crawled'), '');
});
afterAll(() => site.close());

it('a page whose conversion never ends is reported, and the export has the others', async () => {
  const args = ['export', '--format', 'markdown', '-o', 'pages.md', '-D', 'parse.timeout=500ms'];
  const { code, stderr } = await run(args, { cwd });
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${site.origin}/b.txt`)]);
  expect(stderr).toContain('a page could not be converted, and goes without');
  expect(stderr).toContain('parsing took longer than 500 ms');
  const text = readFileSync(join(cwd, 'pages.md'), 'utf8');
  expect(text.match(/^Words of .*$/gm)).toEqual(['Words of a.', 'Words of c.']);
});

it('a signal ends an export whatever the page that it converts', async () => {
  rmSync(join(cwd, 'stuck'), { force: true });
  const stuck = appears('stuck');
  const running = start(['export', '--format', 'markdown', '-o', 'stopped.md', '-D', 'parse.timeout=10m'], { cwd });
  await stuck;
  running.stop();
  // 13: forced, after the 9 s that an orderly end may take.
  expect((await running.finished).code).toBe(11);
  expect(existsSync(join(cwd, 'stopped.md'))).toBe(false);
});
