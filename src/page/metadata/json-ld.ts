// page/metadata/: what a page says about itself (title, authors, times, ..), decided from all its statements.

import { memoized } from '../memoized.ts';
import type { StatedField, Statements } from './statements.ts';

/** Most characters of a block, nodes that are visited, and levels of nesting. */
const MAX_CHARS = 1 << 18;
const MAX_NODES = 2_000;
const MAX_DEPTH = 8;
const MAX_TYPES = 8;

type Node = Readonly<Record<string, unknown>>;

const ARTICLE = /Article$|Posting$|^(?:Report|Review|LiveBlogPosting|QAPage|DiscussionForumPosting)$/;
const THING =
  /^(?:Product|ProductGroup|Recipe|Event|\w+Event|Course|Book|Movie|Dataset|SoftwareApplication|VideoObject|HowTo|JobPosting)$/;
const PAGE = /Page$/;
const SITE = /^(?:WebSite|Organization|NewsMediaOrganization|Corporation|Blog)$/;
/** Lists of other pages. */
const ELSEWHERE = new Set(['itemListElement', 'hasPart', 'isPartOf', 'review', 'comment', 'relatedLink', 'blogPost']);

interface Found {
  readonly articles: Node[];
  readonly things: Node[];
  readonly pages: Node[];
  readonly sites: Node[];
  readonly byId: Map<string, Node>;
  left: number;
}

/** Adds what a JSON-LD block says about the page (schema.org). A block that is not JSON is only counted. */
export function readJsonLd(text: string, statements: Statements): void {
  statements.jsonLd++;
  if (text.length > MAX_CHARS) return;
  const value = parsed(text);
  if (value === undefined) {
    statements.malformed++;
    return;
  }
  const found: Found = { articles: [], things: [], pages: [], sites: [], byId: new Map(), left: MAX_NODES };
  collect(value, 0, found);
  const article = mainOf(found.articles, 'headline');
  if (article !== null) statements.isArticle = true;
  const body = article?.articleBody;
  if (typeof body === 'string' && body.length > (statements.articleBody?.length ?? 0)) statements.articleBody = body;
  const main = article ?? mainOf(found.things, 'name');
  if (main !== null) state(main, true, found, statements);
  const [page] = found.pages;
  if (page !== undefined && page !== main) state(page, false, found, statements);
  for (const site of found.sites) add(statements, 'siteName', 'name', site.name);
}

const WRAPPER = /^\s*(?:\/\/\s*)?(?:<!--|<!\[CDATA\[)/;

/** Pages write line breaks into strings, and comments around the whole. */
function parsed(text: string): unknown {
  const before = WRAPPER.exec(text)?.[0].length ?? 0;
  const end = before === 0 ? -1 : text.lastIndexOf(']]>');
  const inner = text.slice(before, end < 0 ? text.length : end);
  const to = Math.max(inner.lastIndexOf('}'), inner.lastIndexOf(']')) + 1;
  if (to === 0) return inner.trim() === '' ? null : undefined;
  const json = inner.slice(0, to);
  try {
    return JSON.parse(json) as unknown;
  } catch {
    try {
      return JSON.parse(json.replace(/[\0-\x1f]+/g, ' ')) as unknown;
    } catch {
      return undefined;
    }
  }
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

function collect(value: unknown, depth: number, found: Found): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || found.left-- <= 0) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, depth + 1, found);
    return;
  }
  const node = value as Node;
  const isNamed = (node.name ?? node.url ?? node.contentUrl) !== undefined;
  if (typeof node['@id'] === 'string' && isNamed) found.byId.set(node['@id'], node);
  switch (kindOf(node['@type'])) {
    case 'article':
      found.articles.push(node);
      break;
    case 'thing':
      found.things.push(node);
      break;
    case 'page':
      found.pages.push(node);
      break;
    case 'site':
      if (node['@type'] === 'WebSite') found.sites.unshift(node);
      else found.sites.push(node);
      break;
  }
  for (const key of Object.keys(node)) {
    const each = node[key];
    if (typeof each === 'object' && each !== null && !ELSEWHERE.has(key)) collect(each, depth + 1, found);
  }
}

type Kind = 'article' | 'thing' | 'page' | 'site' | 'other';

/** There are few type names. */
const kindNamed = memoized((written): Kind => {
  const type = written.replace(/^.*[/#:]/, '');
  if (ARTICLE.test(type)) return 'article';
  if (THING.test(type)) return 'thing';
  if (PAGE.test(type)) return 'page';
  return SITE.test(type) ? 'site' : 'other';
}, 1_000);

/** The first known one of several types. */
function kindOf(type: unknown): Kind {
  if (typeof type === 'string') return kindNamed(type);
  if (!Array.isArray(type)) return 'other';
  for (const each of type.slice(0, MAX_TYPES)) {
    const kind = typeof each === 'string' ? kindNamed(each) : 'other';
    if (kind !== 'other') return kind;
  }
  return 'other';
}

/** The node that the block is about; `null` if it lists several with different names. */
function mainOf(nodes: readonly Node[], name: string): Node | null {
  const [first] = nodes;
  if (first === undefined) return null;
  if (nodes.length === 1) return first;
  const names = new Set(nodes.map((node) => node[name]).filter((each) => typeof each === 'string'));
  return names.size > 1 ? (nodes.find((node) => node.mainEntityOfPage !== undefined) ?? null) : first;
}

function state(node: Node, isMain: boolean, found: Found, statements: Statements): void {
  add(statements, 'title', 'headline', node.headline);
  if (isMain && node.headline === undefined) add(statements, 'title', 'name', node.name);
  const authors = node.author ?? node.creator;
  if (Array.isArray(authors)) for (const author of authors) add(statements, 'authors', 'author', nameOf(author, found));
  else add(statements, 'authors', 'author', nameOf(authors, found));
  add(statements, 'publishedAt', 'datePublished', node.datePublished ?? node.dateCreated ?? node.uploadDate);
  add(statements, 'modifiedAt', 'dateModified', node.dateModified);
  add(statements, 'description', 'description', node.description);
  for (const language of Array.isArray(node.inLanguage) ? node.inLanguage : [node.inLanguage]) {
    add(statements, 'lang', 'inLanguage', isNode(language) ? (language.alternateName ?? language.name) : language);
  }
  const images = node.image ?? node.thumbnailUrl;
  const image: unknown = Array.isArray(images) ? images[0] : images;
  const target = isNode(image) && image.url === undefined ? found.byId.get(String(image['@id'])) : image;
  add(statements, 'image', 'image', isNode(target) ? (target.url ?? target.contentUrl) : target);
  add(statements, 'siteName', 'publisher', nameOf(node.publisher, found));
}

/** The name of a person or an organization, which may be elsewhere in the block. */
function nameOf(value: unknown, { byId }: Found): unknown {
  if (Array.isArray(value)) return nameOf(value[0], { byId } as Found);
  if (!isNode(value)) return value;
  if (value.name !== undefined) return Array.isArray(value.name) ? value.name[0] : value.name;
  return byId.get(String(value['@id']))?.name;
}

function add(statements: Statements, field: StatedField, property: string, value: unknown): void {
  if (typeof value === 'string' || typeof value === 'number')
    statements.add(field, `json-ld ${property}`, String(value));
}
