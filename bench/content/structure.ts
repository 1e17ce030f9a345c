/**
 * `node dist/bench/content/structure.js --pages FOLDER [--pages FOLDER ..] [--against BUILD] [--every N] [--list N]`:
 * what the Markdown of documentation keeps. For each folder of HTML: headings, code blocks, terms of definition lists
 * and tables in the content of its pages (see document-parts.ts), how many of them the Markdown has, and how many pages
 * have headings of which it has none. With --against, the Markdown of another build (its folder `dist`) is judged by
 * the same rule; with --every, every N-th page; with --list, N of the pages that lose most headings are named.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createMarkdown } from '../../src/domain/page/markdown/markdown.ts';
import { decodeBody } from '../../src/plugin-host/parsing/decode.ts';
import { type DocumentParts, PARTS, partsOfMarkdown, partsOfPage, sharedParts } from './document-parts.ts';
import { domOf } from './labelled-pages.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', multiple: true, default: [] },
    against: { type: 'string' },
    every: { type: 'string', default: '1' },
    list: { type: 'string', default: '0' },
  },
});
const HTML_FILE = /\.x?html?(?:\.[a-z]{2}(?:-[a-z]+)?)?$/;

type Converter = ReturnType<typeof createMarkdown>;
const builds: { readonly name: string; readonly convert: Converter }[] = [
  { name: 'this build', convert: createMarkdown() },
];
if (values.against !== undefined) {
  const file = pathToFileURL(resolve(values.against, 'src/domain/page/markdown/markdown.js')).href;
  const other = (await import(file)) as { readonly createMarkdown: typeof createMarkdown };
  builds.unshift({ name: 'before', convert: other.createMarkdown() });
}

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

  toString(): string {
    const parts = PARTS.map((part) => {
      const total = this.total.get(part) ?? 0;
      const percent = total === 0 ? '-' : ((100 * (this.kept.get(part) ?? 0)) / total).toFixed(1);
      return `${part} ${percent} % of ${total}`;
    });
    const bare = `${this.bare} of ${this.headed} pages without any of their headings`;
    return `${parts.join(', ')}; ${bare}; ${this.around} headings of surroundings`;
  }

  worst(count: number): string[] {
    return this.losses
      .sort((a, b) => b.lost - a.lost)
      .slice(0, count)
      .map(({ file, lost }) => `  ${file}: ${lost} lost`);
  }
}

for (const folder of values.pages) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => HTML_FILE.test(file))
    .sort()
    .filter((_, i) => i % Number(values.every) === 0);
  const tallies = builds.map(() => new Tally());
  for (const file of files) {
    const dom = domOf({
      content: decodeBody(readFileSync(join(folder, file)), { contentType: null, kind: 'html' }).text,
    });
    const parts = partsOfPage(dom);
    for (const [i, { convert }] of builds.entries())
      tallies[i]!.add(
        file,
        parts,
        convert(dom, (href) => href),
      );
  }
  process.stdout.write(`${basename(resolve(folder))}, ${files.length} pages\n`);
  for (const [i, { name }] of builds.entries()) {
    process.stdout.write(`  ${name.padEnd(10)} ${tallies[i]}\n`);
    for (const line of tallies[i]!.worst(Number(values.list))) process.stdout.write(`${line}\n`);
  }
}
