import { chance } from './chance.ts';

/** What a page is at a time. Two pages with one `text` differ in nothing but their links. */
export interface PageContent {
  readonly title: string;
  /** Names the words of the page. */
  readonly text: string;
  readonly links: readonly string[];
}

const SYLLABLES =
  'ba be bi bo bu da de di do du fa fe ka ke ki la le li lo ma me mi na ne no ra re ri sa se so ta te ti'.split(' ');
const WORDS_PER_PARAGRAPH = 28;
const PARAGRAPHS = 3;

/** HTML with a main part of some eighty words, then its links. */
export function htmlOf({ title, text, links }: PageContent): Buffer {
  const paragraphs = Array.from({ length: PARAGRAPHS }, (_, i) => `<p>${paragraph(`${text}/${i}`)}.</p>`).join('\n');
  const anchors = links.map((url, i) => `<li><a href="${url}">${word(url, i)} ${word(url, i + 1)}</a></li>`).join('\n');
  const head = `<head><meta charset="utf-8"><title>${title}</title></head>`;
  const main = `<main><h1>${title}</h1>\n${paragraphs}\n<ul>\n${anchors}\n</ul></main>`;
  return Buffer.from(`<!doctype html>\n<html lang="la">${head}<body>${main}</body></html>\n`);
}

export const paragraph = (text: string): string =>
  Array.from({ length: WORDS_PER_PARAGRAPH }, (_, i) => word(text, i)).join(' ');

function word(text: string, at: number): string {
  const syllables = 2 + Math.floor(chance(text, at, 'length') * 3);
  return Array.from(
    { length: syllables },
    (_, i) => SYLLABLES[Math.floor(chance(text, at, i) * SYLLABLES.length)],
  ).join('');
}
