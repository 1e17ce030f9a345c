/**
 * Pages with a rotating block among the paragraphs (a quotation, a teaser, a prompt) that differs at each visit.
 */
import { seeded } from '../harness/seeded.ts';
import { rewritten } from './edits.ts';
import { articleOf, authorOf, latinLanguage, writtenParagraph } from './prose.ts';
import { chromeOf, pageOf, siteOf, TEMPLATES } from './site.ts';

/** Visits to one page in order, as HTML; before the last one a twentieth of the article was rewritten. */
export function rotatingPages(articles: number, visits: number, seed: number): string[][] {
  const random = seeded(seed);
  const language = latinLanguage(random);
  const pages: string[][] = [];
  for (let i = 0; pages.length < articles; i++) {
    const site = siteOf(language, i % TEMPLATES.length, random);
    const article = articleOf(language, random);
    const chrome = chromeOf(site, random);
    const author = authorOf(language, random);
    const edited = rewritten(0.05)(article, random);
    const versions = Array.from({ length: visits }, (_, visit) => {
      const saying = writtenParagraph(article, [author.sentence(), author.sentence()]);
      return withPart(pageOf(site, visit === visits - 1 ? edited : article, chrome), saying);
    });
    // Templates without paragraphs have no place for it.
    if (versions.every((version) => version !== null)) pages.push(versions);
  }
  return pages;
}

/** Behind the third paragraph. */
function withPart(html: string, text: string): string | null {
  let at = -1;
  for (let i = 0; i < 3; i++) {
    at = html.indexOf('</p>', at + 1);
    if (at < 0) return null;
  }
  return `${html.slice(0, at)}</p><div class="box"><p>${text}</p></div>${html.slice(at + 4)}`;
}
