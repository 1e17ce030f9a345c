import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { madeWord, TYPES } from '../../../site/made-office.ts';
import { workDir } from '../../../support/work-dir.ts';
import { type Running, run, start } from '../../support/binary.ts';

const MIB = 1 << 20;
/** 15 MiB of paragraphs: some of the limit, not all of it. */
const LARGE = madeWord(Array.from({ length: 120_000 }, (_, i) => `${Math.imul(i, 0x9e37_79b1)} `.repeat(8)));
const SMALL = madeWord(['A paragraph of a document with a few words.']);
const PAGES = 20;

/** A parser that fills its memory as fast as it can, or never ends. */
const PLUGIN = `
export default {
  name: 'parse-orders',
  api: 1,
  setup: () => ({
    types: ['application/x-order'],
    maxMemory: ${128 * MIB},
    parse: (page) => {
      const kept = [];
      if (Buffer.from(page.body).toString() === 'wait') for (;;);
      for (;;) kept.push(new Uint8Array(${MIB}).fill(1));
    },
  }),
};
`;

async function served(files: Readonly<Record<string, readonly [type: string, body: Buffer | string]>>) {
  const links = Object.keys(files).map((path) => `<a href="${path}">${path}</a>`);
  const server = createServer(({ url = '' }, response) => {
    const [type, body] = files[url] ?? ['text/html', `<title>${url}</title><p>Words of a page</p>${links.join(' ')}`];
    response.setHeader('content-type', type).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A folder with the plugins of documents, and one that misbehaves. */
function project(): string {
  const folder = workDir();
  mkdirSync(join(folder, 'conf/plugins/parse-orders'), { recursive: true });
  const shipped = readFileSync('conf/plugins.yaml', 'utf8').replace('# - parse-office', '- parse-office');
  writeFileSync(
    join(folder, 'conf/plugins.yaml'),
    shipped.replace('- parse-office', '- parse-office\n  - parse-orders'),
  );
  writeFileSync(join(folder, 'conf/url-rules.txt'), '+.\n');
  writeFileSync(join(folder, 'conf/incrawl.yaml'), '');
  writeFileSync(join(folder, 'conf/plugins/parse-orders/plugin.mjs'), PLUGIN);
  return folder;
}

const SETTINGS = ['--allow', '127.0.0.1', '--delay', '0', '-D', 'http.maxBodyBytes=30MB', '--json'];

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter((child) => child !== '')
    .map(Number);

/** Anonymous memory, MiB. */
const memoryOf = (pid: number): number =>
  Number(/^RssAnon:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

/** The largest memory of a crawl and of its processes, and how many of these there were. */
async function peaks({ child, finished }: Running) {
  const [largest, pids] = [{ crawler: 0, process: 0 }, new Set<number>()];
  const timer = setInterval(() => {
    try {
      largest.crawler = Math.max(largest.crawler, memoryOf(child.pid!));
      for (const pid of childrenOf(child.pid!)) {
        pids.add(pid);
        largest.process = Math.max(largest.process, memoryOf(pid));
      }
    } catch {
      // One of them has just ended.
    }
  }, 5);
  const { code, stderr } = await finished;
  clearInterval(timer);
  return { ...largest, processes: pids.size, code, stderr };
}

describe.skipIf(!existsSync('/proc/self/status'))('documents of a crawl (skipped where there is no /proc)', () => {
  it('take their memory in a process of their own; what is too large fails, and all else is read', async () => {
    const pages = Object.fromEntries(Array.from({ length: PAGES }, (_, i) => [`/page-${i}`, ['text/html', `<p>${i}`]]));
    const url = await served({
      ...(pages as Record<string, [string, string]>),
      ...{ '/a.docx': [TYPES.word, SMALL], '/fill': ['application/x-order', 'fill'], '/b.docx': [TYPES.word, SMALL] },
      ...{ '/large.docx': [TYPES.word, LARGE], '/c.docx': [TYPES.word, SMALL] },
    });
    const cwd = project();
    // Hooks and a debugger of the crawler are in the environment of the process too.
    const env = { NODE_OPTIONS: '--import data:text/javascript, --inspect=127.0.0.1:0 --max-old-space-size=2000' };
    const found = await peaks(start(['crawl', url, ...SETTINGS], { cwd, env }));
    expect(found.code).toBe(0);
    expect(found.stderr.match(/^.*(?:Last few GCs|ebugger listening).*$/gm)).toHaveLength(1);
    const { stdout } = await run(['skipped', '--reason', 'parse-failed'], { cwd });
    const failed = stdout.match(/^.* parse-failed .*$/gm) ?? [];
    const fault = 'parsing took [0-9]+ MiB of memory, more than the 128 MiB that the parser allows';
    expect(failed).toEqual([expect.stringMatching(new RegExp(`/fill +${fault}`))]);
    expect(found.processes).toBeGreaterThan(1);
    expect(found.process).toBeGreaterThan(60);
    expect(found.process).toBeLessThan(256 + 64);
    expect(found.crawler).toBeLessThan(200);
  }, 180_000);

  it('leave no process when the crawler is killed', async () => {
    const url = await served({ '/wait': ['application/x-order', 'wait'] });
    const crawl = start(['crawl', url, ...SETTINGS], { cwd: project() });
    await expect.poll(() => childrenOf(crawl.child.pid!), { timeout: 60_000 }).toHaveLength(1);
    const [pid] = childrenOf(crawl.child.pid!);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    crawl.child.kill('SIGKILL');
    await crawl.finished;
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 10_000 }).toBe(false);
  }, 120_000);

  it('start no process where there are none', async () => {
    const found = await peaks(start(['crawl', await served({}), ...SETTINGS], { cwd: project() }));
    expect([found.code, found.processes]).toEqual([0, 0]);
  }, 120_000);
});
