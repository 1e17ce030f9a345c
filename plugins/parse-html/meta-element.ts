import { ATTRIBUTE, type StatedField, type Tape } from 'incrawl/bundled';
import { foldText } from './folded-text.ts';
import type { PageFacts } from './page-facts.ts';

/** Names of `meta` elements (`name`, `property` or `itemprop`) that state something, lower case. */
const NAMES: Readonly<Record<Exclude<StatedField, 'lang'>, string>> = {
  title: 'og:title twitter:title dc.title citation_title parsely-title sailthru.title headline',
  authors:
    'author article:author og:article:author dc.creator dcterms.creator citation_author parsely-author sailthru.author byl cxenseparse:author',
  publishedAt:
    'article:published_time og:article:published_time datepublished date dc.date dc.date.issued dc.date.created dcterms.created dcterms.issued dcterms.date pubdate publishdate publish-date publication_date citation_publication_date parsely-pub-date sailthru.date cxenseparse:recs:publishtime firstcreate',
  modifiedAt:
    'article:modified_time og:article:modified_time og:updated_time datemodified last-modified last_modified lastmod dcterms.modified dc.date.modified lastupdate revised',
  description: 'description og:description twitter:description dc.description',
  siteName: 'og:site_name application-name dc.publisher',
  image: 'og:image:secure_url og:image og:image:url twitter:image twitter:image:src',
};

/** The field of each name, and its source: Open Graph names by themselves, others as `meta NAME`. */
const META_NAMES: ReadonlyMap<string, { readonly field: StatedField; readonly source: string }> = new Map(
  Object.entries(NAMES).flatMap(([field, names]) =>
    names.split(' ').map((name) => {
      const source = /^(?:og:|article:|twitter:)/.test(name) ? name : `meta ${name}`;
      return [name, { field: field as StatedField, source }] as const;
    }),
  ),
);

const MAX_KEYWORDS = 100;
const MAX_KEYWORD = 128;

/** Reads one `meta` element. Most have a name that states nothing; of these only the name is read. */
export function readMeta(
  tape: Tape,
  at: number,
  facts: PageFacts,
  agents: ReadonlySet<string>,
  refresh: (url: string) => void,
): void {
  const content = tape.find(at, ATTRIBUTE.content);
  if (content < 0) return;
  const pragma = tape.attribute(at, 'http-equiv')?.trim().toLowerCase();
  if (pragma === 'refresh') {
    const url = refreshTarget(tape.valueAt(content));
    if (url !== null) refresh(url);
  } else if (pragma === 'content-language') facts.lang ??= tape.valueAt(content);
  const name = (tape.attribute(at, 'name') ?? tape.attribute(at, 'property') ?? tape.attribute(at, 'itemprop'))
    ?.trim()
    .toLowerCase();
  if (name === undefined) return;
  const known = META_NAMES.get(name);
  if (agents.has(name)) facts.robots.push(tape.valueAt(content));
  else if (known !== undefined) facts.stated.add(known.field, known.source, tape.valueAt(content));
  else if (name === 'keywords') addKeywords(facts.keywords, tape.valueAt(content));
  else if (name === 'og:locale') facts.locale ??= tape.valueAt(content);
  else if (name === 'og:type') facts.stated.isArticle ||= /article/i.test(tape.valueAt(content));
}

function addKeywords(keywords: string[], content: string): void {
  for (const part of content.slice(0, MAX_KEYWORDS * MAX_KEYWORD).split(/[,;\uff0c\u3001\uff1b]/)) {
    if (keywords.length >= MAX_KEYWORDS) return;
    const keyword = foldText(part, MAX_KEYWORD);
    if (keyword !== '' && !keywords.includes(keyword)) keywords.push(keyword);
  }
}

const REFRESH = /^\s*(?:\d+(?:\.\d*)?|\.\d+)\s*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/is;

/**
 * Target of a refresh as browsers read it (WHATWG HTML, "shared declarative refresh steps"); `null`: the page itself.
 */
export function refreshTarget(content: string): string | null {
  const found = REFRESH.exec(content.slice(0, 4096));
  const url = (found?.[1] ?? found?.[2] ?? found?.[3])?.trim();
  return url === undefined || url === '' ? null : url;
}
