import { defaultConfig } from '../../src/core/config/load.ts';
import { wordsOf } from '../../src/core/domain/url/families/noise-links.ts';
import type { Page } from '../../src/core/plugin-host/api/plugin-api.ts';
import { loadParsing } from '../../src/core/plugin-host/parsing/load-parsing.ts';
import { parseLive } from '../../src/core/plugin-host/parsing/parse-page.ts';
import type { ParsedRecord } from '../../src/core/ports/segment-store.ts';
import { parsingOptions, readPluginList } from '../../src/crawler/parsing-options.ts';
import { OutlineReader } from '../../src/page/content/outline.ts';
import { TEXT } from '../../src/page/tape/tape.ts';
import { percent } from '../harness/cost.ts';
import { measurement, type Note } from '../harness/measurement.ts';
import { pageOf } from '../harness/parser.ts';
import { silent } from '../harness/places.ts';
import { blockLabels } from './block-labels.ts';
import { labelsIn } from './labelled-pages.ts';

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

type RecordOf = (url: string, html: string, look?: (page: Page) => void) => Promise<ParsedRecord>;

/** Parses as shipped, with noise links by a mode. */
async function parserOf(mode: string): Promise<RecordOf> {
  const config = defaultConfig([]);
  const list = await readPluginList(config, process.cwd());
  const entries = list.entries.map((entry) =>
    entry.use === 'parsefilter-noise-links' ? { ...entry, options: { mode } } : entry,
  );
  const options = parsingOptions(config, { ...list, entries }, process.cwd());
  const { plugins, signature, limits } = await loadParsing(options, silent);
  return async (url, html, look) =>
    (await parseLive(pageOf(Buffer.from(html), 0, url), plugins, signature, limits, undefined, look)).record;
}

const linksOf = ({ outlinks }: ParsedRecord) => outlinks.filter(({ rel }) => rel === 'link');

function take(note: Note, name: string, judged: readonly Judged[], hasAim = false): void {
  const noise = judged.filter(({ isNoise }) => isNoise);
  const content = judged.filter(({ isNoise }) => !isNoise);
  const found = noise.filter(({ marked }) => marked).length;
  const lost = content.filter(({ marked }) => marked).length;
  note(`found, ${name}`, percent(found, Math.max(1, noise.length)), '%', hasAim ? '>= 80' : undefined);
  note(`precision, ${name}`, percent(found, Math.max(1, found + lost)), '%');
  note(`content links lost, ${name}`, percent(lost, Math.max(1, content.length)), '%', hasAim ? '<= 1.5' : undefined);
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

const folded = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase();

/** The links of labelled pages. */
async function judgeLabelled(recordOf: RecordOf, folders: readonly string[]): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const { file, url = '', type = '', text, body } of labelsIn(folders)) {
    if (text === undefined) continue;
    let labels = new Map<string, number>();
    const record = await recordOf(url, String(body), (page) => {
      labels = linkLabels(page, text);
    });
    const reference = folded(text);
    for (const { url: target, anchor, noise } of linksOf(record)) {
      const words = folded(anchor);
      if (words.length < (wordsOf(words) > words.split(' ').length ? 6 : 12) || wordsOf(words) < 3) continue;
      const label = labels.get(target) ?? -1;
      judged.push({ isNoise: !reference.includes(words), marked: noise !== undefined, type, file, label });
    }
  }
  return judged;
}

/**
 * Precision and recall of noise links on labelled real pages. Those label texts, not links: an anchor of three words
 * and twelve characters (Chinese and the like: six) or more counts as content when the reference text contains it, and
 * as noise otherwise. Shorter anchors occur in texts by chance and are not counted.
 * *Where blocks agree* counts only anchors whose block says the same (block-labels.ts): the words of a menu may occur
 * in a text, and those of a card stand in the reference with others between.
 */
export const noiseLinks = measurement('content', { pages: [] as string[] }, async ({ question }, { pages }) => {
  const note = question('Noise links');
  for (const mode of ['improved', 'published']) {
    const hasAim = mode === 'improved';
    const suffix = hasAim ? '' : `, mode: ${mode}`;
    const judged = await judgeLabelled(await parserOf(mode), pages);
    take(note, `labelled pages${suffix}`, judged, hasAim);
    for (const type of [...new Set(judged.map((each) => each.type))].sort()) {
      const own = judged.filter((each) => each.type === type);
      take(note, `${type}${suffix}`, own);
    }
    take(note, `labelled pages, where blocks agree${suffix}`, judged.filter(isAgreed), hasAim);
    note(`pages that lose half of three content links or more${suffix}`, halvedPages(judged), 'pages', '= 0');
  }
});
