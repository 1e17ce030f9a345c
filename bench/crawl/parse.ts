/** `npm run bench -- --only parse`: CPU of each step from a page's bytes to its record, microseconds. */
import { MarkupScanner } from '../../plugins/parse-html/markup/markup-scanner.ts';
import { createMainContent } from '../../src/domain/page/content/main-content.ts';
import { createSimhash } from '../../src/domain/page/near/simhash.ts';
import type { PageNode } from '../../src/domain/page/page-node.ts';
import { segmentPage } from '../../src/domain/page/published/block-segmenter.ts';
import { Tape } from '../../src/domain/page/tape/tape.ts';
import { DEFAULT_PLUGIN_LIST, parsePluginList } from '../../src/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../src/plugin-host/parsing/page-parser.ts';
import { domOfTape } from '../../src/plugin-host/parsing/tape-dom.ts';
import { realPage } from './real-page.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const CALLS = 400;
const HTML = 'text/html; charset=utf-8';
const REAL_PAGES = 60;
const REAL_ROUNDS = 12;

async function cpuUs(call: (i: number) => unknown): Promise<number> {
  for (let i = 0; i < CALLS; i++) await call(i);
  const before = process.cpuUsage();
  for (let i = 0; i < CALLS; i++) await call(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

const parserWith = (list: typeof DEFAULT_PLUGIN_LIST) =>
  createInlinePageParser(
    {
      list,
      baseDir: process.cwd(),
      signature: 'simhash',
      limits: { maxTextChars: 100_000, maxOutlinks: 10_000, storeText: true },
      agent: 'incrawl',
      intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
    },
    silent,
  );

export async function benchParse(
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
  origins: readonly string[],
): Promise<void> {
  const bodies: Uint8Array[] = [];
  for (let page = 0; page < 50; page++) {
    const answer = await fetch(`${origins[page % origins.length]}/page/${page}.html`);
    if (answer.ok) bodies.push(new Uint8Array(await answer.arrayBuffer()));
  }
  const body = (i: number): Uint8Array => bodies[i % bodies.length] as Uint8Array;
  const page = (i: number) => ({
    index: i,
    url: 'https://a.example/page',
    metadata: {},
    headers: {},
    contentType: HTML,
    body: body(i),
  });
  const whole = await parserWith(DEFAULT_PLUGIN_LIST);
  const unlinked = await parserWith({
    ...DEFAULT_PLUGIN_LIST,
    entries: DEFAULT_PLUGIN_LIST.entries.filter(({ use }) => use !== 'parsefilter-noise-links'),
  });
  const bare = await parserWith(parsePluginList('plugins:\n  - parse-html\n  - signature-simhash\n', 'bench'));
  const limits = { maxDepth: 512, maxAttributes: 256, maxNodes: 500_000 };
  const scanner = new MarkupScanner();
  const tapes = bodies.map((each) => {
    const tape = new Tape();
    scanner.scan(each, tape, limits, false);
    return tape;
  });
  const tape = (i: number): Tape => tapes[i % tapes.length] as Tape;
  const doms = tapes.map((each) => domOfTape(each).document as unknown as PageNode);
  const mainContent = createMainContent();
  const contents = tapes.map((each) => mainContent(each).text);
  const reused = new Tape();
  const simhash = createSimhash();
  const figures = {
    tape: await cpuUs((i) => scanner.scan(body(i), reused, limits, false)),
    'its DOM, where asked for': await cpuUs((i) => domOfTape(tape(i))),
    'published blocks': await cpuUs((i) => segmentPage(doms[i % doms.length] as PageNode)),
    'main content': await cpuUs((i) => mainContent(tape(i))),
    signature: await cpuUs((i) => simhash([{ text: contents[i % contents.length] as string, weight: 1 }])),
    'parse and signature alone': await cpuUs((i) => bare.live(page(i))),
    'with main content': await cpuUs((i) => unlinked.live(page(i))),
    'whole chain as shipped': await cpuUs((i) => whole.live(page(i))),
  };
  const reported = Object.entries(figures).map(([name, us]) => `${name} ${us.toFixed(0)} us`);
  say(`parse           a page of ${Math.round(body(0).length / 1_000)} KB: ${reported.join(', ')}`);
  await benchRealPages(say, whole);
  verdict(figures['with main content'] <= 1_500, 'blocks, main content and signature <= 1,500 us');
  verdict(figures['whole chain as shipped'] <= 1_500, 'whole chain <= 1,500 us');
  verdict(figures['main content'] <= 500, 'blocks and main content <= 500 us');
  await unlinked.close();
  await whole.close();
  await bare.close();
}

/** The whole chain on pages of the size and make of real ones, each page at its quickest. */
async function benchRealPages(
  say: (text: string) => void,
  whole: Awaited<ReturnType<typeof parserWith>>,
): Promise<void> {
  const urls = Array.from({ length: 60 }, (_, i) => `https://a.example/page/${i}.html`);
  const pages = Array.from({ length: REAL_PAGES }, (_, i) => Buffer.from(realPage(i + 1, { urls })));
  const least = new Float64Array(REAL_PAGES).fill(Number.POSITIVE_INFINITY);
  for (let round = 0; round < REAL_ROUNDS; round++) {
    for (const [i, body] of pages.entries()) {
      const before = performance.now();
      await whole.parse({ index: i, url: 'https://a.example/', metadata: {}, headers: {}, contentType: HTML, body });
      least[i] = Math.min(least[i]!, 1_000 * (performance.now() - before));
    }
  }
  const mean = (values: Iterable<number>): number => [...values].reduce((sum, each) => sum + each, 0) / REAL_PAGES;
  const kilobytes = mean(pages.map(({ length }) => length)) / 1_000;
  say(
    `parse           a real-sized page of ${kilobytes.toFixed(0)} KB: ${mean(least).toFixed(0)} us, the least of ${REAL_ROUNDS}`,
  );
}
