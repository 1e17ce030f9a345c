import type { StatedField } from 'incrawl/plugin';

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
export const META_NAMES: ReadonlyMap<string, { readonly field: StatedField; readonly source: string }> = new Map(
  Object.entries(NAMES).flatMap(([field, names]) =>
    names.split(' ').map((name) => {
      const source = /^(?:og:|article:|twitter:)/.test(name) ? name : `meta ${name}`;
      return [name, { field: field as StatedField, source }] as const;
    }),
  ),
);
