import { prose, slug, type TrapPage } from './trap-pages.ts';

/** Pages of each part of a site whose addresses are all made alike, and whose pages all differ. */
export interface OrdinarySizes {
  readonly messages: number;
  readonly articles: number;
  readonly products: number;
  readonly manual: number;
}

const PER_LIST = 100;
const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

/**
 * A site like many: a mailing list by numbers, news by date and slug, products by a parameter, a manual by words. Each
 * part has an index whose pages list a hundred.
 */
export class OrdinarySite {
  readonly #parts: ReadonlyMap<string, readonly string[]>;
  /** Addresses of all pages but the indexes. */
  readonly pages: ReadonlySet<string>;

  constructor({ messages, articles, products, manual }: OrdinarySizes) {
    const two = (number: number): string => String(number).padStart(2, '0');
    this.#parts = new Map([
      ['/list/', range(messages).map((i) => `/list/msg${String(i).padStart(5, '0')}.html`)],
      [
        '/news/',
        range(articles).map(
          (i) => `/news/${2_000 + (i % 25)}/${two(1 + (i % 12))}/${two(1 + (i % 28))}/${slug(`n${i}`, 4)}`,
        ),
      ],
      ['/shop/', range(products).map((i) => `/shop/item?id=${1_000 + i}`)],
      ['/manual/', range(manual).map((i) => `/manual/${slug(`chapter ${i % 40}`, 3)}/${slug(`m${i}`, 4)}.html`)],
    ]);
    this.pages = new Set([...this.#parts.values()].flat());
  }

  /** The page of a path with its query; `null`: there is none. */
  page(path: string): TrapPage | null {
    if (path === '/') return { title: 'Start', text: prose('ordinary', 80), links: [...this.#parts.keys()] };
    if (this.pages.has(path)) return this.#ownPage(path);
    const [start = '', number = '1'] = path.split('?page=');
    const urls = this.#parts.get(start);
    if (urls === undefined) return null;
    const at = Number(number);
    const listed = urls.slice((at - 1) * PER_LIST, at * PER_LIST);
    const more = at * PER_LIST < urls.length ? [`${start}?page=${at + 1}`] : [];
    return { title: `${start} ${at}`, text: prose(path, 20), links: [...listed, ...more] };
  }

  #ownPage(path: string): TrapPage {
    const words = path.startsWith('/shop/') ? 40 : 150;
    return {
      title: prose(`title of ${path}`, 4),
      text: prose(path, words),
      links: ['/', path.slice(0, path.indexOf('/', 1) + 1)],
    };
  }
}
