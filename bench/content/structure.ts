import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
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
  private readonly losses: { readonly file: string; readonly lost: number }[] = [];

  add(file: string, page: DocumentParts, markdown: string): void {
    const written = partsOfMarkdown(markdown);
    const found = sharedParts(page, written);
    for (const part of PARTS) {
      this.total.set(part, (this.total.get(part) ?? 0) + page[part].length);
      this.kept.set(part, (this.kept.get(part) ?? 0) + found[part]);
    }
    this.around += found.surroundings;
    if (page.headings.length === 0) return;
    this.headed++;
    if (found.headings === 0) this.bare++;
    this.losses.push({ file, lost: page.headings.length - found.headings });
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

  worst(count: number): string[] {
    return this.losses
      .sort((a, b) => b.lost - a.lost)
      .slice(0, count)
      .map(({ file, lost }) => `  ${file}: ${lost} lost`);
  }
}

/** Those of this build, and of another one (its folder `dist`). */
async function convertersOf(against: string): Promise<ReadonlyMap<string, ReturnType<typeof createMarkdown>>> {
  const own = new Map([['', createMarkdown()]]);
  if (against === '') return own;
  const file = pathToFileURL(resolve(against, 'src/page/markdown/markdown.js')).href;
  const other = (await import(file)) as { readonly createMarkdown: typeof createMarkdown };
  return own.set('before', other.createMarkdown());
}

const OPTIONS = { pages: [] as string[], against: '', every: 1, list: 0 };

/**
 * What the Markdown of documentation keeps. For each folder of HTML: headings, code blocks, terms of definition lists
 * and tables in the content of its pages (see document-parts.ts), how many of them the Markdown has, and how many pages
 * have headings of which it has none. `--against` judges the Markdown of another build by the same rule; `--every`
 * takes every N-th page; `--list` names those that lose most headings.
 */
export const structure = measurement('content', OPTIONS, async ({ say, question }, { pages, against, every, list }) => {
  const converters = await convertersOf(against);
  for (const folder of pages) {
    const files = readdirSync(dataAt(folder, '--pages', 'a folder of HTML'), { recursive: true, encoding: 'utf8' })
      .filter((file) => HTML_FILE.test(file))
      .sort()
      .filter((_, i) => i % every === 0);
    const tallies = new Map([...converters.keys()].map((build) => [build, new Tally()]));
    for (const file of files) {
      const content = decodeBody(readFileSync(join(folder, file)), { contentType: null, kind: 'html' }).text;
      const dom = domOf({ content });
      const parts = partsOfPage(dom);
      for (const [build, convert] of converters)
        tallies.get(build)?.add(
          file,
          parts,
          convert(dom, (href) => href),
        );
    }
    const note = question('Structure of manuals kept in Markdown');
    for (const [build, tally] of tallies) {
      tally.take(note, [basename(resolve(folder)), build].filter(Boolean).join(', '));
      for (const line of tally.worst(list)) say(line);
    }
  }
});
