/**
 * `node dist/bench/content/noise-links.js [--pages FOLDER]`: precision and recall of noise links on the benchmark's and
 * the demo's site; with FOLDER also on labelled real pages (see labelled-pages.ts). Those label texts, not links: an
 * anchor of three words and twelve characters (Chinese and the like: six) or more counts as content when the reference
 * text contains it, and as noise otherwise. Shorter anchors occur in texts by chance and are not counted. The lines
 * `agreed` count only anchors whose block says the same (block-labels.ts): the words of a menu may occur in a text, and
 * those of a card stand in the reference with others between. `halved` are pages that lose half or more of at least
 * three content links. Last come the templates of the labelled pages, and how many their pages would make noise.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { load } from 'cheerio';
import { defaultConfig } from '../../src/config/load.ts';
import { parsingOptions, readPluginList } from '../../src/crawler/parsing-options.ts';
import { DemoSite, LIVES } from '../../src/demo/site.ts';
import { OutlineReader } from '../../src/domain/page/content/outline.ts';
import { wordsOf } from '../../src/domain/page/links/noise-links.ts';
import { TEXT } from '../../src/domain/page/tape/tape.ts';
import { LEAST_VISITED, templateOf } from '../../src/domain/url/families/noise-families.ts';
import { visitedPageLines } from '../../src/operations/map-reduce/visited-pages.ts';
import type { Page } from '../../src/plugin-host/api/plugin-api.ts';
import { loadParsing } from '../../src/plugin-host/parsing/load-parsing.ts';
import { parseLive } from '../../src/plugin-host/parsing/parse-page.ts';
import type { ParsedRecord } from '../../src/ports/segment-store.ts';
import { startSite } from '../crawl/site-process.ts';
import { blockLabels } from './block-labels.ts';

const { values } = parseArgs({ options: { pages: { type: 'string' } } });
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** A labelled page; of a few the URL is not known. */
interface Row {
  readonly file: string;
  readonly url?: string;
  readonly type: string;
  readonly text?: string;
}

interface Judged {
  readonly isNoise: boolean;
  readonly marked: boolean;
  readonly type: string;
  readonly file: string;
  /** How far the block of the anchor belongs to the reference, 0 to 1; -1: unknown. */
  readonly label: number;
}

/** Labels of blocks from which they are content, and up to which they are noise. */
const CONTENT_LABEL = 0.5;
const NOISE_LABEL = 0.2;
/** Pages of fewer content links lose half of them by chance. */
const LEAST_LINKS = 3;

const outlines = new OutlineReader();
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const config = defaultConfig([]);
const parsing = new Map<string, Awaited<ReturnType<typeof loadParsing>>>();
for (const mode of ['improved', 'published']) {
  const list = await readPluginList(config, process.cwd());
  const entries = list.entries.map((entry) =>
    entry.use === 'parsefilter-noise-links' ? { ...entry, options: { mode } } : entry,
  );
  parsing.set(mode, await loadParsing(parsingOptions(config, { ...list, entries }, process.cwd()), silent));
}

async function recordOf(mode: string, url: string, html: string, look?: (page: Page) => void): Promise<ParsedRecord> {
  const page = {
    index: 0,
    url,
    contentType: 'text/html; charset=utf-8',
    headers: {},
    body: Buffer.from(html),
    metadata: {},
  };
  const { plugins, signature, limits } = parsing.get(mode)!;
  return (await parseLive(page, plugins, signature, limits, undefined, look)).record;
}

const linksOf = ({ outlinks }: ParsedRecord) => outlinks.filter(({ rel }) => rel === 'link');

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Templates of five visited pages or more, and those that are noise by what these brought. */
async function judgedTemplates(pages: readonly ParsedRecord[]): Promise<{ judged: number; empty: number }> {
  const counts = new Map<string | null, number>();
  for (const { url } of pages) counts.set(templateOf(url), 1 + (counts.get(templateOf(url)) ?? 0));
  const empty = new Set<string | null>();
  const lines = visitedPageLines({ fetched: () => each([]), parsed: () => each(pages) });
  for await (const line of lines) empty.add(templateOf(line.split('\t', 1)[0]!));
  const judged = [...counts].filter(([name, count]) => name !== null && count >= LEAST_VISITED).length;
  return { judged, empty: empty.size };
}

function report(name: string, judged: readonly Judged[]): void {
  const noise = judged.filter(({ isNoise }) => isNoise);
  const content = judged.filter(({ isNoise }) => !isNoise);
  const found = noise.filter(({ marked }) => marked).length;
  const lost = content.filter(({ marked }) => marked).length;
  const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  say(
    `${name.padEnd(34)} ${String(noise.length).padStart(6)} noise, ${String(content.length).padStart(6)} content: recall ${percent(found, noise.length)}, precision ${percent(found, found + lost)}, content lost ${percent(lost, content.length)}`,
  );
}

/** The greatest label of the blocks with a text in the anchors of each URL. */
function linkLabels({ tape }: Page, reference: string): Map<string, number> {
  const labels = new Map<string, number>();
  if (tape === null) return labels;
  const outline = outlines.read(tape);
  const { blockCount, blocks } = outline;
  const texts = Array.from({ length: blockCount }, (_, i) => outline.textOf(i));
  const blockOf = new Map<number, number>();
  for (let i = 0; i < blockCount; i++) {
    const end = i + 1 < blockCount ? blocks.firstText[i + 1]! : tape.length;
    for (let at = blocks.firstText[i]!; at < end; at++) if (tape.kindAt(at) === TEXT) blockOf.set(at, i);
  }
  const labelOf = blockLabels(texts, reference);
  for (const [url, anchors] of tape.links) {
    let label = -1;
    for (const anchor of anchors) {
      for (let at = anchor; at < tape.closeOf(anchor); at++) {
        const block = blockOf.get(at);
        if (block !== undefined) label = Math.max(label, labelOf[block]!);
      }
    }
    labels.set(url, label);
  }
  return labels;
}

const isAgreed = ({ isNoise, label }: Judged): boolean => (isNoise ? label <= NOISE_LABEL : label >= CONTENT_LABEL);

function halvedPages(judged: readonly Judged[]): number {
  const pages = new Map<string, { content: number; lost: number }>();
  for (const { file, isNoise, marked } of judged) {
    if (isNoise) continue;
    const page = pages.get(file) ?? { content: 0, lost: 0 };
    pages.set(file, page);
    page.content++;
    if (marked) page.lost++;
  }
  return [...pages.values()].filter(({ content, lost }) => content >= LEAST_LINKS && 2 * lost >= content).length;
}

/** Judges made pages: links within `article` are content, all others noise. */
async function judgeSite(mode: string, pages: readonly { url: string; html: string }[]): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const { url, html } of pages) {
    const $ = load(html);
    const inArticle = new Set(
      $('article a')
        .map((_, a) => new URL($(a).attr('href') ?? '', url).href)
        .get(),
    );
    for (const link of linksOf(await recordOf(mode, url, html))) {
      // A crawl does not follow a page's link to itself.
      if (link.url === url) continue;
      judged.push({
        isNoise: !inArticle.has(link.url),
        marked: link.noise !== undefined,
        type: '',
        file: url,
        label: -1,
      });
    }
  }
  return judged;
}

const site = await startSite({ pages: 200, hosts: 5, make: 'small', encoding: 'identity' });
const benchPages = await Promise.all(
  Array.from({ length: 60 }, async (_, i) => {
    const url = `${site.origins[i % site.origins.length]}/page/${i}.html`;
    return { url, html: await (await fetch(url)).text() };
  }),
);
site.close();

const demo = new DemoSite(1, 0);
const demoPages = LIVES.map(({ path }) => ({
  url: `https://demo.example${path}`,
  html: demo.answer(path, {}, 0).body,
}));

for (const mode of parsing.keys()) {
  report(`bench site, ${mode}`, await judgeSite(mode, benchPages));
  report(`demo, ${mode}`, await judgeSite(mode, demoPages));
  if (values.pages === undefined) continue;
  const judged: Judged[] = [];
  const records: ParsedRecord[] = [];
  const folded = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase();
  const rows = gunzipSync(readFileSync(join(values.pages, 'pages.jsonl.gz')))
    .toString()
    .trim()
    .split('\n');
  let cpuUs = 0;
  for (const row of rows) {
    const { file, url = '', type, text } = JSON.parse(row) as Row;
    if (text === undefined) continue;
    const html = gunzipSync(readFileSync(join(values.pages, 'html', `${file}.gz`))).toString();
    const before = process.cpuUsage();
    const record = await recordOf(mode, url, html);
    const used = process.cpuUsage(before);
    cpuUs += used.user + used.system;
    records.push(record);
    let labels = new Map<string, number>();
    const outlinks = linksOf(
      await recordOf(mode, url, html, (page) => {
        labels = linkLabels(page, text);
      }),
    );
    const reference = folded(text);
    for (const { url: target, anchor, noise } of outlinks) {
      const label = folded(anchor);
      if (label.length < (wordsOf(label) > label.split(' ').length ? 6 : 12) || wordsOf(label) < 3) continue;
      judged.push({
        isNoise: !reference.includes(label),
        marked: noise !== undefined,
        type,
        file,
        label: labels.get(target) ?? -1,
      });
    }
  }
  report(`labelled pages, ${mode}`, judged);
  for (const type of [...new Set(judged.map((each) => each.type))].sort()) {
    report(
      `  ${type}`,
      judged.filter((each) => each.type === type),
    );
  }
  const agreed = judged.filter(isAgreed);
  report(`agreed, ${mode}`, agreed);
  say(`  halved ${halvedPages(judged)}, agreed ${halvedPages(agreed)}`);
  const templates = await judgedTemplates(records);
  say(`  templates of ${LEAST_VISITED} pages or more ${templates.judged}, empty ${templates.empty}`);
  say(`  whole parse ${(cpuUs / rows.length / 1_000).toFixed(2)} ms a page`);
}
