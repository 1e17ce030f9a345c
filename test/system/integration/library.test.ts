import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startChangingSite, words } from '../../site/changing-site.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Output and exit code of a program that imports the package by its name. */
async function printedBy(program: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { cwd: root });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect(stderr).toBe('');
  return stdout;
}

it('the program of docs/library.md crawls, and ends by itself', async () => {
  const site = await startChangingSite({ '/a': words('page a') });
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-library-'));
  onTestFinished(async () => {
    await site.close();
    rmSync(dir, { recursive: true });
  });
  const page = readFileSync(join(root, 'docs', 'library.md'), 'utf8');
  const program = /# From a program\n.*?```ts\n(.*?)```/s.exec(page)?.[1] ?? '';
  const settings = ['http.allowAddresses=["127.0.0.1"]', 'fetch.delay=0', 'fetch.soft404=false'];
  const ours = program
    .replaceAll("'https://example.org/'", `'${site.origin}/a'`)
    .replace("dir: 'crawldb'", `dir: ${JSON.stringify(dir)}`)
    .replace('log: console', 'log: { debug() {}, info() {}, warn: console.warn, error: console.error }')
    .replace("['agent.contact", `[${settings.map((each) => `'${each}'`).join(', ')}, 'agent.contact`);
  const printed = await printedBy(ours);
  expect(printed).toMatch(/^1 \{/);
  expect(printed).toContain("state: 'fetched'");
});

it('errors have a code', async () => {
  const printed = await printedBy(`
    import { CrawlError, openCrawler } from 'incrawl';
    import { defaultConfig } from 'incrawl/config';
    try { defaultConfig(['fetch.dellay=1s']); } catch (error) { console.log(error instanceof CrawlError, error.code); }
    console.log(typeof openCrawler, defaultConfig(['fetch.delay=2s']).fetch.delayMs);
  `);
  expect(printed).toBe('true config-invalid\nfunction 2000\n');
});
