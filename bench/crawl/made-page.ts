import { type Random, vocabularyOf, wordsOf } from '../harness/words.ts';

/** Size and links of a made page. */
export interface PageMake {
  readonly bytes: number;
  /** Links to other pages; a third each in the navigation, beside the article, and in it. */
  readonly links: number;
}

const VOCABULARY = vocabularyOf(42, 4_000, 3, 10);
const text = (words: number, from: Random): string => wordsOf(from, VOCABULARY, words);

/** Writes a page with links to `urls`. `edit` gives the words of one paragraph, so that a page can change. */
export function madePage({ bytes, links }: PageMake, urls: readonly string[], next: Random, edit: Random): string {
  const third = links / 3;
  const link = (url: string): string => `<a class="link" href="${url}">${text(3, next)}</a>`;
  const nav = urls
    .slice(0, third)
    .map((url) => `<li class="nav-item">${link(url)}</li>`)
    .join('\n');
  const aside = urls
    .slice(third, 2 * third)
    .map((url) => `<div class="teaser"><h3>${text(4, next)}</h3>${link(url)}</div>`)
    .join('\n');
  const rest = urls.slice(2 * third);
  let article = '';
  for (let i = 0; article.length < bytes / 2; i++) {
    const inline = rest[i] === undefined ? '' : ` ${link(rest[i] as string)} `;
    article += `<p class="body-text" data-id="${i}">${text(40, i === 3 ? edit : next)}${inline}${text(25, next)}</p>\n`;
  }
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${text(6, next)}</title><meta name="description" content="${text(20, next)}"></head>`;
  const footer = rest
    .slice(third / 2)
    .map(link)
    .join(' | ');
  const body = `${head}<body><header><nav><ul>${nav}</ul></nav></header><main><article><h1>${text(8, next)}</h1>${article}</article></main><aside>${aside}</aside><footer>${footer}</footer>`;
  const filler = Math.max(0, bytes - body.length - 60);
  return `${body}<script>var data="${'x'.repeat(filler)}"</script></body></html>`;
}
