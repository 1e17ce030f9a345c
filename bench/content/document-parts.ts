import { isElement, type PageNode } from '../../src/page/page-block.ts';

/** Headings, code blocks and the like of a document: the letters and digits of each, which no markup changes. */
export interface DocumentParts {
  readonly headings: readonly string[];
  readonly code: readonly string[];
  readonly terms: readonly string[];
  readonly tables: readonly string[];
  /** Headings of navigation, head, foot and sidebars. */
  readonly surroundings: readonly string[];
}

export const PARTS = ['headings', 'code', 'terms', 'tables'] as const;

type Part = keyof DocumentParts;
const PART_OF_TAG: ReadonlyMap<string, Part> = new Map([
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [tag, 'headings'] as const),
  ['pre', 'code'],
  ['dt', 'terms'],
  ['table', 'tables'],
]);
const UNREAD = new Set('head script style template noscript svg math textarea select button dialog'.split(' '));
const AROUND = new Set(['nav', 'footer', 'aside']);
/** Elements that hold navigation; an anchor or a section may be named after it. */
const BOXES = new Set(['div', 'ul', 'ol', 'table', 'td', 'form']);
const ROLES = new Set(['navigation', 'banner', 'contentinfo', 'complementary', 'search']);
/** Names of the navigation that generators of manuals write: words of a class, and whole ids. */
const NAVIGATION_CLASS =
  /(?:^|[\s-])(?:nav|navbar|navigation|navheader|navfooter|menu|sidebar|sphinxsidebar|breadcrumbs?|footer|toolbar|(?:top|sub|bottom|side|skip|fixed)nav|navpath)(?:[\s-]|$)|(?:^|\s)related(?:\s|$)/i;
const NAVIGATION_ID =
  /^(?:[a-z]+-)?(?:nav|navigation|menu|sidebar|breadcrumbs?|footer|nav-(?:path|tree)|quickview|MSearch\w*)$/i;

export const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * The parts of a page. Its content is what stands outside of elements that are navigation, a foot or a sidebar by name,
 * role or class, and outside of a `header` that is not an article's. Tables that hold other blocks lay out a page; of
 * those the inner parts count.
 */
export function partsOfPage(root: PageNode): DocumentParts {
  const parts: Record<Part, string[]> = { headings: [], code: [], terms: [], tables: [], surroundings: [] };
  const open: { readonly node: PageNode; readonly isAround: boolean; readonly isArticle: boolean }[] = [
    { node: root, isAround: false, isArticle: false },
  ];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { node } = at;
    const name = isElement(node) ? (node.name ?? '') : '';
    if (UNREAD.has(name) || isHidden(node)) continue;
    const isArticle = at.isArticle || name === 'main' || name === 'article' || node.attribs?.role === 'main';
    const isAround = at.isAround || isSurrounding(node, name, isArticle);
    const part = PART_OF_TAG.get(name);
    if (part !== undefined && (part !== 'tables' || isOfText(node))) {
      const letters = lettersOf(textIn(node));
      if (letters !== '' && !isAround) parts[part].push(letters);
      else if (letters !== '' && part === 'headings') parts.surroundings.push(letters);
    }
    for (const child of (node.children ?? []).toReversed()) open.push({ node: child, isAround, isArticle });
  }
  return parts;
}

function isHidden({ attribs }: PageNode): boolean {
  if (attribs === undefined) return false;
  return attribs.hidden !== undefined || /display\s*:\s*none/i.test(attribs.style ?? '');
}

function isSurrounding({ attribs }: PageNode, name: string, isArticle: boolean): boolean {
  if (AROUND.has(name) || (name === 'header' && !isArticle)) return true;
  if (attribs === undefined || !BOXES.has(name)) return false;
  return (
    ROLES.has(attribs.role ?? '') || NAVIGATION_CLASS.test(attribs.class ?? '') || NAVIGATION_ID.test(attribs.id ?? '')
  );
}

/** Whether a table has two columns or more, and neither headings nor code nor tables in its cells. */
function isOfText(table: PageNode): boolean {
  let cells = 0;
  const open = [...(table.children ?? [])];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { name = '', children = [] } = node;
    if (PART_OF_TAG.has(name)) return false;
    if (name === 'tr') {
      cells = Math.max(cells, children.filter((each) => each.name === 'td' || each.name === 'th').length);
    }
    open.push(...children);
  }
  return cells > 1;
}

function textIn(node: PageNode): string {
  const texts: string[] = [];
  const open = [node];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at.type === 'text') texts.push(at.data ?? '');
    if (!UNREAD.has(at.name ?? '')) open.push(...(at.children ?? []).toReversed());
  }
  return texts.join('');
}

/** The headings and code blocks of a text in Markdown, and the letters of the whole. */
export interface MarkdownParts {
  readonly headings: readonly string[];
  readonly code: readonly string[];
  readonly letters: string;
}

const PREFIX = /^(?:[\s>]|- |\d+[.)] )*/;

export function partsOfMarkdown(markdown: string): MarkdownParts {
  const headings: string[] = [];
  const code: string[] = [];
  const plain = markdown.replace(/\]\([^()\s]*\)/g, ']');
  let fence = '';
  let listing: string[] = [];
  for (const line of plain.split('\n')) {
    const body = line.replace(PREFIX, '');
    if (fence !== '') {
      if (body.startsWith(fence)) {
        code.push(lettersOf(listing.join('\n')));
        fence = '';
      } else listing.push(line);
      continue;
    }
    fence = /^`{3,}/.exec(body)?.[0] ?? '';
    listing = [];
    if (/^#{1,6} /.test(body)) headings.push(lettersOf(body));
  }
  return { headings, code, letters: lettersOf(plain) };
}

/** How many parts of a page its Markdown has. Terms and tables have no markup of their own: their letters count. */
export function sharedParts(page: DocumentParts, written: MarkdownParts): Record<Part, number> {
  // Headings of the content first, so that one of the surroundings with the same words does not take their place.
  const left = counted(written.headings);
  const holds = (text: string): boolean => written.letters.includes(text);
  return {
    headings: taken(page.headings, left),
    surroundings: taken(page.surroundings, left),
    code: taken(page.code, counted(written.code)),
    terms: page.terms.filter(holds).length,
    tables: page.tables.filter(holds).length,
  };
}

function counted(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function taken(wanted: readonly string[], left: Map<string, number>): number {
  let count = 0;
  for (const each of wanted) {
    const has = left.get(each) ?? 0;
    if (has === 0) continue;
    left.set(each, has - 1);
    count++;
  }
  return count;
}
