import { seeded } from '../harness/seeded.ts';
import { lettersOf, type Random, vocabularyOf, wordsOf } from '../harness/words.ts';

/**
 * Pages of the size and make of real ones. Of 1,422 labelled pages the mean is 203 KB, 1,217 elements, 2,072 attributes
 * with 74 KB of values (735 of them classes, 23 KB), 429 texts of 16.7 KB, 924 indentations, 61 KB of scripts and 177
 * anchors; the median is about two thirds of that.
 */
export interface RealPageLinks {
  /** Targets of the anchors, in the order of the page; used in turn when there are fewer than anchors. */
  readonly urls: readonly string[];
}

const VOCABULARY = vocabularyOf(43, 4_000, 2, 9);
const words = (random: Random, count: number): string => wordsOf(random, VOCABULARY, count);

/** The class lists of a site: few of them are on most of its elements. */
const CLASSES = (() => {
  const random = seeded(44);
  const name = (): string =>
    `${lettersOf(random, 5)}-${lettersOf(random, 4)}${random() < 0.4 ? `--${lettersOf(random, 3)}` : ''}`;
  return Array.from({ length: 240 }, () => Array.from({ length: 1 + Math.floor(random() * 4) }, name).join(' '));
})();

/** Writes one page. `edit` gives the words of one paragraph, so that a page can change. */
export function realPage(seed: number, { urls }: RealPageLinks, edit: Random = seeded(seed)): string {
  const random = seeded(seed);
  // Sizes spread as those of real pages: most are smaller than the mean, a few much larger.
  const normal = random() + random() + random() + random() - 2;
  const size = Math.min(4, Math.exp(1.1 * normal - 0.19));
  const some = (count: number): number => Math.max(1, Math.round(count * size));
  let depth = 0;
  let anchors = 0;
  let ids = 0;

  const indent = (): string => `\n${'  '.repeat(depth)}`;
  const classes = (): string => ` class="${CLASSES[Math.floor(random() ** 2 * CLASSES.length)]}"`;
  const data = (): string => ` data-${lettersOf(random, 6)}="${lettersOf(random, 8 + Math.floor(random() * 40))}"`;
  const tag = (name: string, attributes: string, ...children: (() => string)[]): string => {
    depth++;
    const inside = children.map((child) => indent() + child()).join('');
    depth--;
    return `<${name}${attributes}>${inside}${indent()}</${name}>`;
  };
  const link = (text: string, more = ''): string =>
    `<a href="${urls[anchors++ % urls.length]}"${classes()}${more}><span>${text}</span></a>`;
  const times = (count: number, child: () => string): (() => string)[] => Array.from({ length: count }, () => child);

  /** Elements around others that only carry a layout. */
  const wrapped = (levels: number, child: () => string): string =>
    levels === 0 ? child() : tag('div', classes() + data(), () => wrapped(levels - 1, child));

  const icon = (): string =>
    `<svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true"><path d="M${lettersOf(random, 120)}z"/></svg>`;
  const image = (): string => {
    const source = `https://images.example/${lettersOf(random, 30)}.jpg`;
    return `<img src="${source}?w=800&amp;q=80" srcset="${source}?w=400 400w, ${source}?w=800 800w, ${source}?w=1600 1600w" alt="${words(random, 3)}" loading="lazy" width="800" height="600"${data()}>`;
  };
  const entry = (): string => tag('li', classes(), () => link(words(random, 2)));
  const menu = (count: number): string => tag('ul', classes(), ...times(count, entry));
  const card = (): string =>
    tag(
      'div',
      classes() + data() + data(),
      () => tag('div', classes(), () => link('', ` aria-label="${words(random, 4)}"`), image),
      () =>
        tag(
          'div',
          classes() + data(),
          () => `<h3${classes()}>${link(words(random, 7), data())}</h3>`,
          () => `<p${classes()}>${words(random, 14)}</p>`,
          () => `<div${classes()}><span>${words(random, 2)}</span><span${classes()}>3 May 2026</span></div>`,
          () => `<button type="button"${classes()}${data()} aria-expanded="false">${icon()}</button>`,
        ),
    );
  const paragraph = (from: Random): string =>
    `<p id="p${ids++}">${words(from, 45)} ${random() < 0.4 ? `<strong>${words(random, 2)}</strong> ` : ''}${random() < 0.5 ? link(words(random, 3)) : ''} ${words(random, 20)}.</p>`;
  const script = (): string =>
    `<script${data()}>window.${lettersOf(random, 5)}=${JSON.stringify({ [lettersOf(random, 6)]: words(random, Math.round(150 + random() * 500)) })};</script>`;

  const head = [
    '<meta charset="utf-8">',
    `<title>${words(random, 7)} | ${words(edit, 1)}</title>`,
    ...Array.from({ length: 23 }, () => `<meta property="og:${lettersOf(random, 6)}" content="${words(random, 8)}">`),
    ...Array.from(
      { length: 26 },
      () => `<link rel="preload" as="style" href="https://static.example/${lettersOf(random, 40)}.css"${data()}>`,
    ),
    ...times(some(11), script).map((make) => make()),
    `<style>${`.${lettersOf(random, 9)}{margin:0 auto;color:#333}`.repeat(some(120))}</style>`,
  ].join('\n  ');
  const header = (): string =>
    tag('header', classes(), () =>
      tag('nav', classes(), ...times(some(9), () => tag('div', classes(), () => menu(9)))),
    );
  const form = (): string =>
    tag(
      'form',
      ` action="/search"${classes()}`,
      ...times(some(12), () =>
        tag(
          'div',
          classes(),
          () =>
            `<label>${words(random, 1)}</label><input type="text" name="${lettersOf(random, 6)}" placeholder="${words(random, 2)}"${classes()}${data()}>`,
        ),
      ),
    );
  const article = (): string =>
    tag(
      'article',
      `${classes()}${data()}`,
      () => `<h1${classes()}>${words(random, 8)}</h1>`,
      () => paragraph(edit),
      ...times(some(24), () => paragraph(random)),
    );
  const cards = (): string =>
    tag('section', classes(), () => `<h2>${words(random, 3)}</h2>`, ...times(some(40), () => wrapped(2, card)));
  const footer = (): string =>
    tag('footer', classes(), ...times(some(9), () => tag('div', classes() + data(), () => menu(9))));
  const body = tag(
    'body',
    classes(),
    header,
    form,
    () =>
      tag(
        'main',
        ` id="content"${classes()}`,
        () => wrapped(9, article),
        () => wrapped(6, cards),
      ),
    () => tag('aside', classes(), ...times(some(10), () => tag('div', classes() + data(), () => menu(2)))),
    footer,
    ...times(some(14), script),
  );
  return `<!doctype html><html lang="en" class="no-js">\n<head>\n  ${head}\n</head>\n${body}\n</html>`;
}
