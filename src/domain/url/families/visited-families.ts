import { shapeOf, URL_FEATURES, urlSegments } from './url-features.ts';

/**
 * What the URLs of one template have in common: host, directories without numbers, and of a URL with a query its path
 * and the names of its parameters, as `a.org/tag/*`, `a.org/ad/click?campaign&slot`, `a.org/p#.html`. `null`: a URL at
 * the root without numbers and query is of none.
 */
export function templateOf(url: string): string | null {
  const segments = urlSegments(url);
  const [site = ''] = (segments[0] ?? '').split('?', 1);
  const path = URL_FEATURES.path(segments);
  const folder = path === '' ? site : `${site}/${path}`;
  const parameters = URL_FEATURES.parameters(segments);
  if (parameters !== null) {
    const [name = ''] = (segments.length < 2 ? '' : (segments.at(-1) as string)).split('?', 1);
    return `${folder}/${shapeOf(name)}?${parameters}`;
  }
  if (segments.length > 2) return `${folder}/*`;
  const shape = URL_FEATURES.shape(segments);
  return shape === null ? null : `${folder}/${shape}`;
}

/** Visited pages of a template, and those of them that brought nothing to the crawl. */
export interface VisitsOfTemplate {
  readonly visits: number;
  readonly empty: number;
}

/** Visited pages that a template is judged by, at least. */
export const LEAST_VISITED = 5;
const LEAST_EMPTY_SHARE = 0.9;

/** Whether a template is noise by what its visited pages brought. */
export const isEmptyTemplate = ({ visits, empty }: VisitsOfTemplate): boolean =>
  visits >= LEAST_VISITED && empty >= LEAST_EMPTY_SHARE * visits;
