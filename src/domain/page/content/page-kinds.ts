import type { PageNode } from '../page-node.ts';

/** Kinds that pages declare (JSON-LD, Open Graph). */
export interface PageKinds {
  readonly article: boolean;
  readonly product: boolean;
  readonly forum: boolean;
  readonly list: boolean;
}

export interface KindReader {
  (node: PageNode): void;
  kinds(): PageKinds;
}

const TYPE = /"@type"\s*:\s*\[?\s*"([A-Za-z]{1,40})"/g;
const MAX_JSON_CHARS = 50_000;
/** Forum software, and names of forums. */
const FORUM =
  /\b(?:discourse|phpbb|xenforo|vbulletin|nodebb|mybb|flarum|lemmy|invision community|ips community|simple machines|smf|vanilla|forums?|message board|xf|forum-\w+|viewtopic|showthread|论坛|社区|フォーラム)\b|论坛|掲示板/i;
const POST = /\b(?:single-post|single-article|article-page|post-template)\b/i;

/** Reads the elements without visible text (scripts with JSON-LD, `meta`), and `html` and `body`. */
export function createKindReader(): KindReader {
  const types = new Set<string>();
  let isForum = false;
  let isPost = false;
  const read = ({ name, attribs = {}, children = [] }: PageNode): void => {
    const [first] = children;
    if (name === 'html' || name === 'body') {
      const words = `${attribs.id ?? ''} ${attribs.class ?? ''}`.slice(0, 1_000);
      isForum ||= FORUM.test(words);
      isPost ||= POST.test(words);
    } else if (name === 'meta') {
      const key = (attribs.property ?? attribs.name)?.toLowerCase();
      if (key === 'og:type') types.add((attribs.content ?? '').toLowerCase());
      if (key === 'generator' || key === 'og:site_name' || key === 'application-name') {
        isForum ||= FORUM.test((attribs.content ?? '').slice(0, 200));
      }
    } else if (name === 'script' && attribs.type?.toLowerCase() === 'application/ld+json') {
      for (const [, type = ''] of (first?.data ?? '').slice(0, MAX_JSON_CHARS).matchAll(TYPE))
        types.add(type.toLowerCase());
    }
  };
  const has = (pattern: RegExp): boolean => [...types].some((type) => pattern.test(type));
  return Object.assign(read, {
    kinds: () => ({
      article: isPost || has(/article|posting$|^blog/),
      product: has(/^product|^offer/),
      forum: isForum || has(/^discussionforum|^qapage|^question/),
      list: has(/^itemlist|^collectionpage|^searchresults/),
    }),
  });
}
