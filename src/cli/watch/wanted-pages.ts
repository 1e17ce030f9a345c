import { parseSeedLine } from '../../core/domain/crawl/discovery/seed.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { isUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { WatchedPage, WatchList } from '../../delivery/watch/watch-list.ts';
import { seedSources } from '../input/seed-sources.ts';
import type { Session } from '../session.ts';

/** A page as a person names it. `select`: `null` leaves a page that is watched already as it is. */
export interface WantedPage {
  readonly url: string;
  readonly select: readonly string[] | null;
}

/**
 * The pages of URLs and seed files, whose lines may have selectors of their own. Ends the command with a usage error
 * for what is no URL, is refused by a URL filter, or is no selector.
 */
export async function wantedPages(
  session: Session,
  words: readonly string[],
  select: readonly string[] | undefined,
): Promise<readonly WantedPage[]> {
  if (words.length === 0) {
    if (select !== undefined) return session.refuse('--select goes with URLs: name the pages whose part is watched');
    return [];
  }
  const sources = await seedSources(session, words);
  const pages: WantedPage[] = [];
  await session.withChecker(async (checker) => {
    for (const { name, lines } of sources) {
      let line = 0;
      for await (const text of lines) {
        line++;
        const seed = parseSeedLine(text);
        if (seed === null) continue;
        const where = name === 'command line' ? '' : `${name}:${line}: `;
        if ('error' in seed) return session.refuse(`${where}${seed.error}`);
        const { url, reason } = await checker.url({ url: seed.url, scope: 'inject' });
        if (url === null) return session.refuse(`${where}${refusalOf(seed.url, reason)}`);
        const own = Object.entries(seed.metadata).flatMap(([key, value]) => (SELECT.test(key) ? [String(value)] : []));
        pages.push({ url, select: own.length > 0 ? own : (select ?? null) });
      }
    }
  });
  for (const selector of new Set(pages.flatMap((page) => page.select ?? []))) await requireSelector(session, selector);
  return pages;
}

function refusalOf(url: string, reason: string | null): string {
  const why = (reason ?? 'it is refused').replace(/^(.{80}).+/s, '$1 ..');
  return `${url} cannot be watched: ${why} ("incrawl check url" says which filter of URLs refuses it)`;
}

/** Metadata of a seed that names parts of its page, as parsefilter-part reads them. */
const SELECT = /^select(?:\.\d+)?$/;

async function requireSelector(session: Session, selector: string): Promise<void> {
  const { load } = await import('cheerio');
  try {
    load('')(selector);
  } catch (error) {
    session.refuse(`"${selector}" is no CSS selector such as "main .price": ${(error as Error).message}`);
  }
}

/** A line of a seed file for a page. */
export const seedLine = (url: string, select: readonly string[]): string =>
  [
    url,
    ...select.map((selector, i) => `${i === 0 ? 'select' : `select.${i + 1}`}=${selector.replace(/\s+/g, ' ')}`),
  ].join('\t');

/** The list with more pages. `fresh`: those that begin anew, as they or their selectors were not there before. */
export function withPages(
  list: WatchList,
  wanted: readonly WantedPage[],
): { readonly list: WatchList; readonly fresh: readonly WatchedPage[] } {
  const pages = new Map(list.pages.map((page) => [page.url, page]));
  const fresh = new Map<string, WatchedPage>();
  for (const { url, select } of wanted) {
    const known = pages.get(url);
    if (known !== undefined && (select === null || known.select.join('\n') === select.join('\n'))) continue;
    const page = { url, select: select ?? [], seen: null };
    pages.set(url, page);
    fresh.set(url, page);
  }
  return { list: { ...list, pages: [...pages.values()] }, fresh: [...fresh.values()] };
}

/** The list without some pages. Throws `usage-invalid` for one that is not in it. */
export function withoutPages(list: WatchList, urls: readonly string[]): WatchList {
  const known = new Set(list.pages.map(({ url }) => url));
  for (const url of urls) {
    if (known.has(url)) continue;
    const hint = isUrl(url) ? '' : ' (a URL begins with its scheme: https://..)';
    throw new CrawlError(
      'usage-invalid',
      `--remove: ${url} is not watched${hint}; "incrawl watch --list" lists the pages`,
    );
  }
  return { ...list, pages: list.pages.filter(({ url }) => !urls.includes(url)) };
}
