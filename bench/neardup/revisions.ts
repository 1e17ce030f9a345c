/** Two versions of a real page: its text edited by a known share, or only what stands around it. */
import { load } from 'cheerio';
import { changedShare, foldedWords } from '../harness/shingles.ts';
import { intOf, oneOf, type Random } from '../harness/words.ts';

export interface Revision {
  readonly kind: string;
  readonly after: string;
  /** Share of the 3-word shingles of its paragraphs that only one version has, 0..1. */
  readonly changed: number;
  readonly isNoise: boolean;
}

/** Paragraphs shorter than it are left alone, characters. */
const LEAST_PARAGRAPH = 60;
/** Fewer such paragraphs are no text to edit. */
const LEAST_PARAGRAPHS = 4;

const folded = (text: string): string => text.replace(/\s+/g, ' ').trim();

/**
 * Revisions of a page whose paragraphs stand in a reference text; none of a page with hardly any. `foreign` gives
 * sentences of other pages.
 */
export function revisionsOf(html: string, reference: string, foreign: readonly string[], random: Random): Revision[] {
  const known = folded(reference);
  const $ = load(html);
  const paragraphs = $('p')
    .toArray()
    .filter((node) => {
      const text = folded($(node).text());
      return text.length >= LEAST_PARAGRAPH && known.includes(text);
    });
  if (paragraphs.length < LEAST_PARAGRAPHS) return [];
  const texts = paragraphs.map((node) => folded($(node).text()));
  const before = texts.flatMap(foldedWords);
  const sentence = (): string => oneOf(random, foreign);

  const edited = (kind: string, edit: (texts: string[]) => void): Revision => {
    const after = [...texts];
    edit(after);
    const page = load(html);
    const nodes = page('p').toArray();
    const places = $('p').toArray();
    for (const [at, node] of paragraphs.entries()) {
      if (after[at] !== texts[at]) page(nodes[places.indexOf(node)]!).text(after[at]!);
    }
    return { kind, after: page.html(), changed: changedShare(before, after.flatMap(foldedWords)), isNoise: false };
  };
  /** Replaces a run of words within paragraphs, about so many. */
  const rewritten = (count: number) => (after: string[]) => {
    let left = Math.max(1, Math.round(count));
    for (let at = intOf(random, 0, after.length - 1); left > 0; at = (at + 1) % after.length) {
      const words = after[at]!.split(' ');
      const from = left >= words.length ? 0 : intOf(random, 0, words.length - left);
      const taken = Math.min(left, words.length);
      const fresh: string[] = [];
      while (fresh.length < taken) fresh.push(...sentence().split(' '));
      after[at] = [...words.slice(0, from), ...fresh.slice(0, taken), ...words.slice(from + taken)].join(' ');
      left -= taken;
    }
  };
  const added = (after: string[]): void => {
    const at = intOf(random, 0, after.length - 1);
    after[at] += ` ${sentence()}`;
  };
  const size = before.length;
  return [
    edited('one word', rewritten(1)),
    edited('0.5 to 2 %', rewritten(size * (0.005 + 0.015 * random()))),
    edited('0.5 to 2 %', rewritten(size * (0.005 + 0.015 * random()))),
    edited('a sentence added', added),
    edited('2 to 5 %', rewritten(size * (0.02 + 0.03 * random()))),
    edited('5 to 30 %', rewritten(size * (0.05 + 0.25 * random()))),
    ...(['adverts', 'dates', 'navigation', 'all three'] as const).map((kind) => ({
      kind,
      after: surroundedAnew(html, known, kind, sentence, random),
      changed: 0,
      isNoise: true,
    })),
  ];
}

const DATES = /\b\d{1,2}[:.]\d{2}\b|\b(?:19|20)\d\d\b|\b\d{1,2} (?:minutes?|hours?|days?|comments?|views?)\b/g;

/** The page with other adverts, dates or links outside its reference text. */
function surroundedAnew(
  html: string,
  known: string,
  kind: 'adverts' | 'dates' | 'navigation' | 'all three',
  sentence: () => string,
  random: Random,
): string {
  const $ = load(html);
  const isContent = (text: string): boolean => text.length >= 12 && known.includes(text);
  if (kind === 'adverts' || kind === 'all three') {
    const paragraphs = $('p').toArray();
    for (let count = 0; count < 2 && paragraphs.length > 0; count++) {
      const advert = `<div class="advert"><a href="/ad/${intOf(random, 1, 1e6)}">${sentence()}</a></div>`;
      $(paragraphs[intOf(random, 0, paragraphs.length - 1)]!).after(advert);
    }
    $('body').append(`<aside class="promo"><p><a href="/offer">${sentence()}</a></p></aside>`);
  }
  if (kind === 'dates' || kind === 'all three') {
    $('time, [class*=date], [class*=meta], [class*=time], [class*=count]').each((_, node) => {
      if ($(node).children().length > 0 || isContent(folded($(node).text()))) return;
      $(node).text(
        $(node)
          .text()
          .replace(DATES, (found) => found.replace(/\d/g, () => String(intOf(random, 1, 9)))),
      );
    });
  }
  if (kind === 'navigation' || kind === 'all three') {
    $('nav a, aside a, footer a, [class*=related] a, [class*=sidebar] a').each((_, node) => {
      if ($(node).children().length > 0 || isContent(folded($(node).text())) || random() < 0.5) return;
      $(node).text(
        sentence()
          .split(' ')
          .slice(0, intOf(random, 2, 8))
          .join(' '),
      );
    });
  }
  return $.html();
}
