import { createContents, type Extent, isShellOf } from '../content/extent.ts';
import type { MainContent } from '../content/main-content.ts';
import { OutlineReader } from '../content/outline.ts';
import { shownBlocks } from '../content/page-blocks.ts';
import { articleBodyText } from '../metadata/page-metadata.ts';
import { isElement, type PageNode } from '../page-block.ts';
import { flatten, Tape } from '../tape/tape.ts';
import { type LinkResolver, MarkdownText } from './markdown-text.ts';

/** If the main content is shorter than this, characters, it is distrusted and all text of the page is written. */
const LEAST_CONTENT = 80;

/**
 * The main content of a page as Markdown (CommonMark 0.31 with the tables of GitHub): headings, paragraphs, lists,
 * quotations, code, tables, links and emphasis. Text of the page is escaped, so that it cannot become markup. Empty for
 * a page without text. `stated` is the text in its structured data, which is written if the page shows none.
 */
export function createMarkdown(): (
  root: PageNode,
  resolve: LinkResolver,
  stated?: string | null,
  extent?: Extent,
) => string {
  const contents = createContents();
  const outlines = new OutlineReader();
  const tape = new Tape();
  const shownIn = ({ text, outline, isMain, headline }: MainContent): Uint8Array => {
    if (text.length < LEAST_CONTENT) return shownBlocks(outline);
    return headline === null ? isMain : isMain.slice().fill(1, headline.from, headline.end);
  };
  return (root, resolve, stated = null, extent = 'main') => {
    const nodes = flatten(root, tape);
    const found = contents[extent](tape);
    const paragraphs = stated === null ? '' : articleBodyText(stated);
    if (isShellOf(found, paragraphs)) return write(...paragraphNodes(paragraphs), resolve);
    const isShown = shownIn(found);
    const texts = new Set<PageNode>();
    outlines.read(tape, (text, block) => {
      if (isShown[block] === 1) texts.add(nodes[text]!);
    });
    return write(root, texts, resolve);
  };
}

/** A page of paragraphs, one per line, and its texts. */
function paragraphNodes(text: string): [root: PageNode, texts: ReadonlySet<PageNode>] {
  const texts = text.split('\n').map((data): PageNode => ({ type: 'text', data }));
  const children = texts.map((each): PageNode => ({ type: 'tag', name: 'p', children: [each] }));
  return [{ type: 'root', children }, new Set(texts)];
}

/** Walks the page without recursion, as it may nest to any depth. */
function write(root: PageNode, texts: ReadonlySet<PageNode>, resolve: LinkResolver): string {
  const out = new MarkdownText(resolve);
  const open: { readonly node: PageNode; next: number }[] = [{ node: root, next: 0 }];
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const child = at.node.children?.[at.next++];
    if (child === undefined) {
      out.leave(at.node);
      open.pop();
    } else if (child.type === 'text') {
      if (texts.has(child)) out.text(child.data ?? '');
    } else if (child.children !== undefined) {
      if (isElement(child)) out.enter(child, at.node);
      open.push({ node: child, next: 0 });
    }
  }
  return out.end();
}
