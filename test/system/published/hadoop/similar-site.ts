/** A site with near duplicates of all kinds, and links that are noise. */
import { serve } from '../../../../bench/harness/places.ts';
import { seeded } from '../../../../bench/harness/seeded.ts';

/** Addresses of loopback, each a host and a domain of its own. */
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
/** Pages of an article: itself, print version, edited, longer; each links to an advert and a login. */
const VERSIONS = ['', '/print', '/edited', '/more'] as const;
const PAGES_PER_ARTICLE = 3 * VERSIONS.length;
/** Lists are linked one from the other, so that each round finds the articles of one. */
const LISTS = 6;

/** @param pages of all hosts together, about */
export async function startSite(pages: number): Promise<{ readonly seeds: readonly string[]; close(): Promise<void> }> {
  const articles = Math.max(1, Math.round(pages / HOSTS.length / PAGES_PER_ARTICLE));
  const sites = await Promise.all(
    HOSTS.map((host) =>
      serve(({ url = '/' }, response) => {
        const body = url === '/robots.txt' ? null : pageOf(url, articles);
        response.writeHead(body === null ? 404 : 200, { 'content-type': 'text/html' }).end(body ?? '');
      }, host),
    ),
  );
  return {
    seeds: sites.map(({ origin }) => `${origin}/`),
    async close() {
      for (const site of sites) await site.close();
    },
  };
}

function pageOf(path: string, articles: number): string {
  const [, kind = '', number = '', version = ''] = path.split('/');
  const page = (menu: string, main: string): string =>
    `<!doctype html><title>${kind} ${number}</title><nav><ul>${menu}</ul></nav><main>${main}</main>`;
  if (kind === '')
    return page(
      '',
      linksTo(1, (i) => `/list/${i}`),
    );
  if (kind === 'list') {
    const listed = Math.ceil(articles / LISTS);
    const first = Number(number) * listed;
    const count = Math.max(0, Math.min(listed, articles - first));
    const next = first + listed < articles ? linksTo(1, () => `/list/${Number(number) + 1}`) : '';
    const own = VERSIONS.map((each) => linksTo(count, (i) => `/article/${first + i}${each}`));
    return page('', next + own.join(''));
  }
  if (kind !== 'article') return page('', '<p>Little.</p>');
  const id = `${number}${version}`;
  const menu = `<li><a href="/ad/click?id=${id}">Advert</a><li><a href="/login?next=/article/${id}">Log in</a>`;
  return page(menu, `<article>${textOf(Number(number), version)}</article>`);
}

const linksTo = (count: number, pathOf: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `<p><a href="${pathOf(i)}">${pathOf(i)}</a>`).join('');

/** An edit is one word of 300. */
function textOf(article: number, version: string): string {
  const random = seeded(article + 1);
  const words = Array.from({ length: 300 }, () => `word${Math.floor(random() * 20_000)}`);
  if (version === 'edited') words[150] = 'edited';
  if (version === 'more') words.push(...words);
  return words.reduce((text, word, i) => `${text}${i % 50 === 0 ? '<p>' : ' '}${word}`, '');
}
