import type { NearPage, ParseCheck } from '../../../crawler.ts';
import type { Column } from '../../render/table.ts';
import { facts, htmlTable, urlLink } from '../html-table.ts';
import { linesOf, type Markup, markup } from '../markup.ts';

/** The blocks of a stored page, with the classes and colours of `check parse --html`. */
export function blocksPage(check: ParseCheck, storedAt: string): Markup {
  const main = check.blocks.filter(({ type }) => type === 'main').length;
  const blocks = check.blocks.map(
    ({ type, path, text, links, anchorChars }) =>
      markup`<section class="block ${type}"><h2>${type} · ${path} · ${text.length} characters${links === 0 ? '' : `, ${links} links with ${anchorChars} characters`}</h2><p dir="auto">${linesOf(text)}</p></section>`,
  );
  return markup`<p>${urlLink(check.url)}</p>
${facts([
  ['title', markup`<bdi>${check.title ?? ''}</bdi>`],
  ['stored', storedAt],
  ['type', check.contentType],
  ['charset', check.charset],
  ['language', check.lang],
  ['signature', check.signature],
  [
    'main content',
    `${main} of ${check.blocks.length} blocks, ${check.mainText.length} of ${check.text.length} characters`,
  ],
  ['error', check.error === null ? null : `${check.error.code}: ${check.error.message}`],
])}
${blocks}`;
}

const NEAR_COLUMNS: readonly Column<NearPage>[] = [
  { title: 'distance', align: 'right', cell: (page) => `${page.distance} bits` },
  { title: 'url', cell: (page) => page.url },
  { title: 'state', cell: (page) => page.state },
  { title: 'title', cell: (page) => page.title ?? '' },
];

export function nearPage(url: string, near: readonly NearPage[] | null): Markup {
  return markup`<p>${urlLink(url)}</p>${
    near === null
      ? markup`<p class="nothing">This page is unknown, or has no signature.</p>`
      : htmlTable('Pages whose signatures differ by at most 3 bits', NEAR_COLUMNS, near, {
          url: (page) => urlLink(page.url),
        })
  }`;
}
