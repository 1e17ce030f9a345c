import { createSignReader, HIDDEN, NOSCRIPT } from '../content/element-signs.ts';
import { createMainContent } from '../content/main-content.ts';
import { OUTLINE_LIMITS, type Outline, outlineOf } from '../content/text-blocks.ts';
import { isElement, type PageNode } from '../page-node.ts';
import { type LinkResolver, MarkdownText } from './markdown-text.ts';

/** Main content shorter than this, characters, is distrusted: all text of the page is written. */
const LEAST_CONTENT = 80;

/**
 * The main content of a page as Markdown (CommonMark 0.31 with the tables of GitHub): headings, paragraphs, lists,
 * quotations, code, tables, links and emphasis. Text of the page is escaped, so that it cannot become markup. Empty for
 * a page without text.
 */
export function createMarkdown(): (root: PageNode, resolve: LinkResolver) => string {
  const mainContent = createMainContent();
  const signsOf = createSignReader();
  return (root, resolve) => {
    const found = mainContent(root);
    const isAll = found.text.length < LEAST_CONTENT;
    const isShown = isAll ? shownBlocks(found.outline) : found.isMain;
    const texts = new Set<PageNode>();
    outlineOf(root, signsOf, OUTLINE_LIMITS, (text, block) => {
      if (isShown[block]) texts.add(text);
    });
    return write(root, texts, resolve);
  };
}

/** All blocks that the page shows. */
function shownBlocks({ blocks, elements }: Outline): boolean[] {
  return blocks.map(({ path }) => path.every((at) => ((elements[at]?.signs ?? 0) & (HIDDEN | NOSCRIPT)) === 0));
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
