import { createServer, type Server } from 'node:http';
import { prose } from '../site/trap-pages.ts';

/**
 * A paper of articles with an archive by months, sections, a list of many pages, tags and adverts. Archive, sections,
 * list and tags quote the articles that they list; the first three name each article once.
 */
export const ARTICLES = 60;
export const ADVERTS = 30;
export const TAGS = 24;
const TAGS_OF_ARTICLE = 3;
const MONTHS = 10;
const SECTIONS = 6;
const PAGES = 12;

const numbers = (length: number): number[] => Array.from({ length }, (_, at) => at);
const articles = numbers(ARTICLES);
const textOf = (id: number): string => prose(`article ${id}`, 240);
const titleOf = (id: number): string => prose(`title ${id}`, 6);
const month = (id: number): string => String(1 + (id % MONTHS)).padStart(2, '0');
const pathOf = (id: number): string => `/news/2026/${month(id)}/${titleOf(id).toLowerCase().replace(/\W+/g, '-')}`;
const tagName = (tag: number): string => prose(`tag ${tag}`, 1).toLowerCase().replace(/\W/g, '');
const tagsOf = (id: number): number[] => numbers(TAGS_OF_ARTICLE).map((at) => (id * 7 + at * (5 + (id % 3))) % TAGS);
const ids = new Map(articles.map((id) => [pathOf(id), id]));
const tags = new Map(numbers(TAGS).map((tag) => [tagName(tag), tag]));

export const ARTICLE_PATHS: readonly string[] = [...ids.keys()];

const paragraph = (text: string): string => `<p>${text}</p>`;
const page = (title: string, main: string): string =>
  `<!doctype html><title>${title}</title><nav><a href="/">Start</a> ${numbers(SECTIONS)
    .map((at) => `<a href="/section/${tagName(100 + at)}">Section ${at}</a>`)
    .join(' ')}</nav><main><h1>${title}</h1>${main}</main><footer>The paper of the town</footer>`;

/** What lists have of an article: its title, the beginning of its text. */
const teaser = (id: number): string =>
  `<h2><a href="${pathOf(id)}">${titleOf(id)}</a></h2><p>${textOf(id).split(' ').slice(0, 40).join(' ')}
   <p>${1 + (id % 28)} May 2026 <a href="${pathOf(id)}">Read more</a>`;
const listing = (title: string, of: readonly number[], more = ''): string =>
  page(title, of.map(teaser).join('') + more);

function articlePage(id: number): string {
  const beside = [id - 1, id + 1].filter((at) => at >= 0 && at < ARTICLES);
  const more = beside.map((at) => `<a href="${pathOf(at)}">${titleOf(at)}</a>`).join(', ');
  const words = textOf(id).split(' ');
  const kind = ['/ad/click?campaign=', '/offer/', '/promo/'][id % 3];
  const advert =
    id % 2 === 0 ? paragraph(`${prose(`sold ${id}`, 12)} <a href="${kind}${7_919 * id}">An offer</a>.`) : '';
  const named = tagsOf(id).map((tag) => `<a href="/tag/${tagName(tag)}">${tagName(tag)}</a>`);
  return page(
    titleOf(id),
    `${paragraph(words.slice(0, 120).join(' '))}${advert}${paragraph(words.slice(120).join(' '))}
     ${paragraph(`${prose(`more ${id}`, 20)} ${more}`)}${paragraph(`This text is about ${named.join(', ')}.`)}`,
  );
}

function answer(path: string): { readonly location?: string; readonly html?: string } {
  const [, first = '', second = '', third = ''] = path.split(/[/?]/);
  if (path === '/') {
    const months = numbers(MONTHS).map((at) => `<a href="/archive/2026/${month(at)}">Month ${month(at)}</a>`);
    const lists = `${paragraph(`${prose('start', 40)} <a href="/list/1">All</a>`)}${paragraph(months.join(' '))}`;
    return { html: page('The paper', lists) };
  }
  const id = ids.get(path);
  if (id !== undefined) return { html: articlePage(id) };
  if (first === 'archive')
    return {
      html: listing(
        `Month ${third}`,
        articles.filter((each) => month(each) === third),
      ),
    };
  if (first === 'section') {
    const at = numbers(SECTIONS).findIndex((each) => tagName(100 + each) === second);
    return {
      html: listing(
        `Section ${at}`,
        articles.filter((each) => each % SECTIONS === at),
      ),
    };
  }
  if (first === 'list') {
    const at = Number(second);
    const shown = articles.filter((each) => Math.floor((each * PAGES) / ARTICLES) === at - 1);
    return { html: listing(`Page ${at}`, shown, at < PAGES ? `<p><a href="/list/${at + 1}">Next</a></p>` : '') };
  }
  if (first === 'tag') {
    return {
      html: listing(
        `About ${second}`,
        articles.filter((each) => tagsOf(each).includes(tags.get(second) ?? -1)),
      ),
    };
  }
  if (first === 'ad') return { location: `http://shop${path.length % 3}.example/buy${path.slice(-4)}` };
  if (first === 'offer') return { html: page('Our offers', paragraph(prose('offers', 80))) };
  if (first === 'promo') return { html: page(`Promotion ${second}`, paragraph(prose(`promotion ${second}`, 80))) };
  return {};
}

export const taggedSite = (): Server =>
  createServer((request, response) => {
    const { location, html } = answer(request.url ?? '/');
    if (location !== undefined) response.writeHead(302, { location }).end();
    else if (html === undefined) response.writeHead(404).end();
    else response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  });
