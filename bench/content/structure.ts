import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { decodeBody } from '../../src/core/plugin-host/parsing/decode.ts';
import { createMarkdown } from '../../src/page/markdown/markdown.ts';
import { percent } from '../harness/cost.ts';
import { measurement, type Note } from '../harness/measurement.ts';
import { dataAt } from '../harness/places.ts';
import { type DocumentParts, PARTS, partsOfMarkdown, partsOfPage, sharedParts } from './document-parts.ts';
import { domOf } from './labelled-pages.ts';

const HTML_FILE = /\.x?html?(?:\.[a-z]{2}(?:-[a-z]+)?)?$/;

/** Sums over the pages of a folder. */
class Tally {
  private readonly total = new Map<string, number>();
  private readonly kept = new Map<string, number>();
  private headed = 0;
  private bare = 0;
  private around = 0;

  add(page: DocumentParts, markdown: string): void {
    const found = sharedParts(page, partsOfMarkdown(markdown));
    for (const part of PARTS) {
      this.total.set(part, (this.total.get(part) ?? 0) + page[part].length);
      this.kept.set(part, (this.kept.get(part) ?? 0) + found[part]);
    }
    this.around += found.surroundings;
    if (page.headings.length === 0) return;
    this.headed++;
    if (found.headings === 0) this.bare++;
  }

  /** Shares of each part that are kept, and pages that have lost all headings. */
  take(note: Note, name: string): void {
    for (const part of PARTS) {
      const total = this.total.get(part) ?? 0;
      if (total > 0) note(`${part} kept, ${name}`, percent(this.kept.get(part) ?? 0, total), '%', '>= 97');
    }
    note(`pages with none of their headings, ${name}`, this.bare, 'pages', `<= ${Math.floor(this.headed / 100)}`);
    note(`headings of surroundings, ${name}`, this.around, 'headings');
  }
}

/**
 * What the Markdown of documentation keeps. For each folder of HTML: headings, code blocks, terms of definition lists
 * and tables in the content of its pages (see document-parts.ts), how many of them the Markdown has, and how many pages
 * have headings of which it has none.
 */
export const structure = measurement('content', { pages: [] as string[] }, ({ question }, { pages }) => {
  const note = question('Structure of manuals kept in Markdown');
  const convert = createMarkdown();
  for (const folder of pages) {
    const tally = new Tally();
    for (const file of readdirSync(dataAt(folder, '--pages', 'a folder of HTML'), {
      recursive: true,
      encoding: 'utf8',
    })) {
      if (!HTML_FILE.test(file)) continue;
      const content = decodeBody(readFileSync(join(folder, file)), { contentType: null, kind: 'html' }).text;
      const dom = domOf({ content });
      const markdown = convert(dom, (href) => href);
      tally.add(partsOfPage(dom), markdown);
    }
    tally.take(note, basename(resolve(folder)));
  }
});
