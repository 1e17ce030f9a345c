import type { PageNode } from './page-node.ts';

/** What a page declares itself to be (JSON-LD, Open Graph), and its title. */
export interface PageKinds {
  readonly article: boolean;
  readonly product: boolean;
  readonly forum: boolean;
  readonly list: boolean;
  readonly title: string;
}

export interface KindReader {
  (node: PageNode): void;
  kinds(): PageKinds;
}

const TYPE = /"@type"\s*:\s*\[?\s*"([A-Za-z]{1,40})"/g;
const MAX_JSON_CHARS = 50_000;

/** Reads the elements that show nothing: scripts with JSON-LD, `meta`, `title`. */
export function createKindReader(): KindReader {
  const types = new Set<string>();
  let title = '';
  const read = ({ name, attribs = {}, children = [] }: PageNode): void => {
    const [first] = children;
    if (name === 'title') title ||= (first?.data ?? '').trim().slice(0, 300);
    else if (name === 'meta' && attribs.property?.toLowerCase() === 'og:type')
      types.add((attribs.content ?? '').toLowerCase());
    else if (name === 'script' && attribs.type?.toLowerCase() === 'application/ld+json') {
      for (const [, type = ''] of (first?.data ?? '').slice(0, MAX_JSON_CHARS).matchAll(TYPE))
        types.add(type.toLowerCase());
    }
  };
  const has = (pattern: RegExp): boolean => [...types].some((type) => pattern.test(type));
  return Object.assign(read, {
    kinds: () => ({
      article: has(/article|posting|^blog/),
      product: has(/^product|^offer/),
      forum: has(/^discussionforum|^qapage|^question/),
      list: has(/^itemlist|^collectionpage|^searchresults/),
      title,
    }),
  });
}
