import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(`../../../dist/src/${path}`, import.meta.url));

/** Crawls a page, parses one as a worker does, and names the packages that were loaded for it. */
const PROGRAM = `
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
const { openCrawler } = await import(${JSON.stringify(at('crawler/index.js'))});
const { defaultConfig } = await import(${JSON.stringify(at('core/config/load.js'))});
const { parsingOptions, readPluginList } = await import(${JSON.stringify(at('crawler/parsing-options.js'))});
const { createInlinePageParser } = await import(${JSON.stringify(at('core/plugin-host/parsing/page-parser.js'))});
const log = { debug() {}, info() {}, warn() {}, error() {} };
const dir = await mkdtemp(join(tmpdir(), 'incrawl-'));
const config = defaultConfig(['fetch.delay=0', 'http.allowAddresses=["127.0.0.0/8"]', ...process.argv.slice(1)]);
const page = '<title>t</title><p>' + 'words of a page '.repeat(50) + '<a href=/next>next</a>';
const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = 'http://127.0.0.1:' + server.address().port + '/';
const crawler = await openCrawler({ config, dir, log });
const { totals } = await crawler.crawl({ seeds: [{ name: 'test', lines: [url] }] });
await crawler.close();
const parser = await createInlinePageParser(parsingOptions(config, await readPluginList(config, dir), dir), log);
const { record } = await parser.live({ index: 0, url, contentType: 'text/html', headers: {}, body: Buffer.from(page), metadata: {} });
server.closeAllConnections();
server.close();
await rm(dir, { recursive: true });
const loaded = Object.keys(createRequire(import.meta.url).cache).flatMap((file) => /node_modules\\/(simhash-js|cheerio|yauzl|pdfjs-dist)\\//.exec(file)?.[1] ?? []);
console.log(JSON.stringify({ fetched: totals.fetched, signature: record.outcome.signature, loaded: [...new Set(loaded)] }));
`;

async function loadedBy(...settings: string[]) {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM, ...settings]);
  return JSON.parse(stdout) as { fetched: number; signature: string; loaded: string[] };
}

it('a default crawl loads neither cheerio nor simhash-js', async () => {
  const { fetched, signature, loaded } = await loadedBy();
  expect([fetched, /^[0-9a-f]{16}$/.test(signature)]).toEqual([2, true]);
  expect(loaded).toEqual([]);
});

it('simhash-js is loaded where its signature is chosen', async () => {
  const { signature, loaded } = await loadedBy('parse.signature=simhash-js');
  expect(/^[0-9a-f]{16}$/.test(signature)).toBe(true);
  expect(loaded).toEqual(['simhash-js']);
});
