import { MarkupScanner } from '../../plugins/parse-html/markup/markup-scanner.ts';
import { DEFAULT_PLUGIN_LIST, parsePluginList } from '../../src/core/plugin-host/loading/plugin-list.ts';
import { createMainContent } from '../../src/page/content/main-content.ts';
import { createSimhash } from '../../src/page/near/simhash.ts';
import { Tape } from '../../src/page/tape/tape.ts';
import { cpuUsACall, mean } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { inlineParser, PAGE_LIMITS, pageOf } from '../harness/parser.ts';
import { CRAWLING } from './measured-crawl.ts';
import { realPage } from './real-page.ts';
import { siteOf, somePages } from './site-process.ts';

const CALLS = 400;
const REAL_PAGES = 60;
const REAL_ROUNDS = 12;

/** CPU of each step from a page's bytes to its record; the whole chain also on pages of the size of real ones. */
export const parse = measurement('content', CRAWLING, async ({ question }, options) => {
  const bodies = (await somePages(siteOf(options), 50)).map(({ body }) => body);
  const body = (i: number): Buffer => bodies[i % bodies.length] as Buffer;
  const page = (i: number) => pageOf(body(i), i);
  const whole = await inlineParser(DEFAULT_PLUGIN_LIST);
  const unlinked = await inlineParser({
    ...DEFAULT_PLUGIN_LIST,
    entries: DEFAULT_PLUGIN_LIST.entries.filter(({ use }) => use !== 'parsefilter-noise-links'),
  });
  const bare = await inlineParser(parsePluginList('plugins:\n  - parse-html\n  - signature-simhash\n', 'bench'));
  const scanner = new MarkupScanner();
  const tapes = bodies.map((each) => {
    const tape = new Tape();
    scanner.scan(each, tape, PAGE_LIMITS, false);
    return tape;
  });
  const tape = (i: number): Tape => tapes[i % tapes.length] as Tape;
  const mainContent = createMainContent();
  const contents = tapes.map((each) => mainContent(each).text);
  const reused = new Tape();
  const simhash = createSimhash();
  const kilobytes = Math.round(body(0).length / 1_000);
  const note = question(`CPU of a page of ${kilobytes} KB`);
  const ms = async (step: string, call: (i: number) => unknown, aim?: string): Promise<void> =>
    note(step, (await cpuUsACall(CALLS, call)) / 1_000, 'ms', aim);
  await ms('its tape', (i) => scanner.scan(body(i), reused, PAGE_LIMITS, false));
  await ms('blocks, features and trees', (i) => mainContent(tape(i)), '<= 0.5');
  await ms('signature', (i) => simhash([{ text: contents[i % contents.length] as string, weight: 1 }]), '<= 0.25');
  await ms('parse and signature alone', (i) => bare.live(page(i)));
  await ms('with main content', (i) => unlinked.live(page(i)), '<= 1.5');
  await ms('from bytes to record, as shipped', (i) => whole.live(page(i)), '<= 1.5');

  const urls = Array.from({ length: 60 }, (_, i) => `https://a.example/page/${i}.html`);
  const real = Array.from({ length: REAL_PAGES }, (_, i) => Buffer.from(realPage(i + 1, { urls })));
  const least = real.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < REAL_ROUNDS; round++) {
    for (const [i, each] of real.entries()) {
      const before = performance.now();
      await whole.parse(pageOf(each, i));
      least[i] = Math.min(least[i]!, performance.now() - before);
    }
  }
  const realKilobytes = Math.round(mean(real.map(({ length }) => length)) / 1_000);
  note(`from bytes to record, real-sized made pages of ${realKilobytes} KB, least time`, mean(least), 'ms');
  for (const parser of [whole, unlinked, bare]) await parser.close();
});
