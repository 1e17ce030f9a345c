/**
 * A site with traps beside 300 ordinary pages. Every page follows from its address alone, so that the site has no end
 * and needs no memory.
 */
import { seeded } from '../../bench/harness/seeded.ts';
import { vocabularyOf } from '../../bench/harness/words.ts';

export const TRAPS = ['random', 'chain', 'facets', 'calendar', 'mirror', 'sessions', 'days', 'notices'] as const;
export type Trap = (typeof TRAPS)[number];

/** Ordinary pages: an index, sections, and the pages of each. */
export const SECTIONS = 10;
export const PAGES_PER_SECTION = 29;
export const CONTROL_PAGES = SECTIONS * (1 + PAGES_PER_SECTION);

/** What a made-up page says. */
export interface TrapPage {
  readonly title: string;
  readonly text: string;
  readonly links: readonly string[];
}

const VOCABULARY = vocabularyOf(7, 5_000, 3, 10);

/** FNV-1a, 32 bits: the seed of a page. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** A text of its own for each name. */
export function prose(name: string, words: number): string {
  const next = seeded(hashOf(name));
  return Array.from({ length: words }, (_, i) => {
    const word = VOCABULARY[Math.floor(next() * VOCABULARY.length)] as string;
    return i % 12 === 0 ? `${word[0]?.toUpperCase()}${word.slice(1)}` : i % 12 === 11 ? `${word}.` : word;
  }).join(' ');
}

/** A text of its own as part of an address. */
export const slug = (name: string, words: number): string => prose(name, words).toLowerCase().replace(/\W+/g, '-');

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

/** The page of a path with its query; `null`: there is none. */
export function trapPage(path: string): TrapPage | null {
  if (path === '/')
    return { title: 'Start', text: prose('start', 60), links: ['/docs/', ...TRAPS.map((trap) => `/${trap}/`)] };
  const [, first = ''] = path.split('/');
  if (first === 'docs') return controlPage(path);
  const kind = TRAPS.find((trap) => trap === first);
  return kind === undefined ? null : KINDS[kind](path);
}

function controlPage(path: string): TrapPage | null {
  if (path === '/docs/')
    return { title: 'Documentation', text: prose(path, 80), links: range(SECTIONS).map((i) => `/docs/part${i}/`) };
  const [, section, page] = /^\/docs\/part(\d+)\/(?:([\w-]+)\.html)?$/.exec(path) ?? [];
  if (section === undefined) return null;
  const names = range(PAGES_PER_SECTION).map((i) => slug(`name ${section} ${i}`, 3));
  const links = names.map((name) => `/docs/part${section}/${name}.html`);
  if (page === undefined) return { title: `Part ${section}`, text: prose(path, 80), links };
  return names.includes(page)
    ? { title: prose(`title ${path}`, 4), text: prose(path, 180), links: ['/docs/', ...links.slice(0, 5)] }
    : null;
}

const KINDS: Readonly<Record<Trap, (path: string) => TrapPage>> = {
  /** A hundred addresses that are never the same. */
  random: (path) => {
    const next = seeded(hashOf(path));
    const name = (): string => Math.floor(next() * 2 ** 40).toString(36);
    return { title: 'Random', text: '', links: range(100).map(() => `/random/${name()}`) };
  },
  /** One page under ever new numbers. */
  chain: (path) => {
    const step = Number(path.split('/')[2] || 0);
    return {
      title: `Step ${step}`,
      text: `This is step ${step}. ${prose('chain', 120)}`,
      links: [`/chain/${step + 1}`],
    };
  },
  facets: facetPage,
  calendar: calendarPage,
  /** A calendar of seven links a day, with sixty characters that no other day has. */
  days: (path) => dayPage(path, ({ name }) => prose(name, 12).slice(0, 60)),
  /** The same, with nine hundred characters that all days have, and dates among them. */
  notices: (path) =>
    dayPage(path, ({ day, next }) => {
      const parts = ['open', 'closed', 'enquiries'].map((name) => prose(name, 50).slice(0, 300));
      return `${parts[0]} ${day} ${parts[1]} ${next} ${parts[2]}`;
    }),
  /** The ordinary pages once more, under as many roots as one asks for. */
  mirror: (path) => {
    const [, number = '0', rest = ''] = /^\/mirror\/(?:(\d+)(\/.*))?$/.exec(path) ?? [];
    const page = controlPage(`/docs${rest || '/'}`) ?? { title: 'Mirror', text: prose('/docs/', 80), links: [] };
    const links = page.links.map((link) => link.replace('/docs/', `/mirror/${number}/`));
    return { ...page, links: [...links, `/mirror/${Number(number) + 1}/`] };
  },
  /** Twenty pages under a session that each answer makes anew. */
  sessions: (path) => {
    const [, session = '0', page = '0'] = /^\/sessions\/(?:(\w+)\/page(\d+)\.html)?$/.exec(path) ?? [];
    const links = range(20).map((i) => `/sessions/${hashOf(`${session} ${page} ${i}`).toString(36)}/page${i}.html`);
    return { title: `Page ${page}`, text: prose(`session page ${page}`, 120), links };
  },
};

const FACETS = { color: 6, size: 6, brand: 6, price: 6, sort: 6 } as const;
const PRODUCTS = 60;

/** Products of a shop, by any combination of five properties: 16,807 lists of the same sixty. */
function facetPage(path: string): TrapPage {
  const chosen = new URL(path, 'http://shop.test').searchParams;
  const products = range(PRODUCTS).filter((product) =>
    Object.keys(FACETS).every((facet) => {
      const value = chosen.get(facet);
      return value === null || facet === 'sort' || hashOf(`${product} ${facet}`) % 2 === Number(value) % 2;
    }),
  );
  const order = Number(chosen.get('sort') ?? 0);
  products.sort((a, b) => hashOf(`${order} ${a}`) - hashOf(`${order} ${b}`));
  const links = Object.entries(FACETS).flatMap(([facet, values]) =>
    range(values).map((value) => {
      const next = new URLSearchParams([...chosen].filter(([name]) => name !== facet));
      next.set(facet, String(value));
      next.sort();
      return `/facets/?${next}`;
    }),
  );
  const text = products.slice(0, 12).map((product) => `${prose(`product ${product}`, 9)}`);
  return { title: 'Products', text: `${products.length} products. ${text.join('\n')}`, links };
}

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2025, 0, 1);

/** A page for each day there ever was, hardly any of which has an event. */
function calendarPage(path: string): TrapPage {
  const [year, month, day] = path.split('/').slice(2).map(Number);
  const at = year && month && day ? Date.UTC(year, month - 1, day) : FIRST_DAY;
  const to = (days: number): string =>
    `/calendar/${new Date(at + days * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '/')}/`;
  const events = hashOf(`event ${at}`) % 20 === 0 ? prose(`event ${at}`, 25) : 'There are no events on this day.';
  const date = new Date(at).toUTCString().slice(0, 16);
  return {
    title: date,
    text: `${date}. ${events} Choose another day.`,
    links: [...range(42).map((i) => to(i - 21)), to(-365), to(365)],
  };
}

/** A day of any year as `/days/2025/137.html`, with links to seven others. */
function dayPage(path: string, textOf: (day: { name: string; day: string; next: string }) => string): TrapPage {
  const [, root = '', year = 2025, number = 1] = /^\/(\w+)\/(?:(-?\d+)\/(\d+)\.html)?$/.exec(path) ?? [];
  const at = Date.UTC(Number(year), 0, Number(number));
  const to = (days: number): string => {
    const day = new Date(at + days * DAY_MS);
    const ofYear = 1 + Math.round((day.getTime() - Date.UTC(day.getUTCFullYear(), 0, 1)) / DAY_MS);
    return `/${root}/${day.getUTCFullYear()}/${ofYear}.html`;
  };
  const dated = (days: number): string => new Date(at + days * DAY_MS).toUTCString().slice(0, 16);
  return {
    title: dated(0),
    text: textOf({ name: `${root} ${at}`, day: dated(0), next: dated(1) }),
    links: [1, -1, 7, -7, 30, 365, -365].map(to),
  };
}

/** As HTML, with the navigation and the footer of a site. */
export function htmlOf({ title, text, links }: TrapPage): string {
  const paragraphs = text
    .split('\n')
    .map((line) => `<p>${line}</p>`)
    .join('\n');
  const items = links.map(
    (link) =>
      `<li><a href="${link.replaceAll('&', '&amp;')}">${link.split(/[/?]/).filter(Boolean).at(-1) ?? 'start'}</a></li>`,
  );
  return `<!doctype html><html lang="en"><head><title>${title} - Trap site</title></head><body>
<header><nav><a href="/">Start</a> <a href="/docs/">Documentation</a></nav></header>
<main><h1>${title}</h1>${paragraphs}<ul>${items.join('\n')}</ul></main>
<footer>Trap site, for tests</footer></body></html>`;
}
