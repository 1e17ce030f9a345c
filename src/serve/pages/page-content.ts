import type { NearPage, ParseCheck } from '../../crawler/views.ts';
import { shortTime } from '../../render/columns.ts';
import type { Column } from '../../render/table.ts';
import { facts, htmlTable, urlLink } from '../html-table.ts';
import { linesOf, type Markup, markup, type Shown } from '../markup.ts';

/** The blocks of a stored page, with the classes and colours of `check parse --html`. */
export function blocksPage(check: ParseCheck, storedAt: string): Markup {
  const main = check.blocks.filter(({ type }) => type === 'main').length;
  const blocks = check.blocks.map(
    ({ type, path, text, links, anchorChars }) =>
      markup`<section class="block ${type}"><h2>${type} · ${path} · ${text.length} characters${links === 0 ? '' : `, ${links} links with ${anchorChars} characters`}</h2><p dir="auto">${linesOf(text)}</p></section>`,
  );
  return markup`<p>${urlLink(check.url)}</p>
${facts([
  ['title', stated(check, 'title', check.title)],
  ['authors', stated(check, 'authors', check.authors.join(', ') || null)],
  ['published', stated(check, 'publishedAt', check.publishedAt === null ? null : shortTime(check.publishedAt))],
  ['modified', stated(check, 'modifiedAt', check.modifiedAt === null ? null : shortTime(check.modifiedAt))],
  ['description', stated(check, 'description', check.description)],
  ['site', stated(check, 'siteName', check.siteName)],
  ['image', stated(check, 'image', check.image)],
  ['stored', storedAt],
  ['type', check.contentType],
  ['charset', check.charset],
  ['language', stated(check, 'lang', check.lang)],
  ['signature', check.signature],
  ['change signature', check.changeSignature === check.signature ? null : check.changeSignature],
  [
    'main content',
    `${main} of ${check.blocks.length} blocks, ${check.mainText.length} of ${check.text.length} characters`,
  ],
  ['error', check.error === null ? null : `${check.error.code}: ${check.error.message}`],
])}
${blocks}`;
}

/** A value of the page, and where it was found. */
const stated = ({ sources }: ParseCheck, field: string, value: string | null): Shown =>
  value === null
    ? null
    : markup`<bdi>${value}</bdi>${sources[field] === undefined ? null : markup` <small class="pale">${sources[field]}</small>`}`;

const NEAR_COLUMNS: readonly Column<NearPage>[] = [
  { title: 'distance', align: 'right', cell: (page) => `${page.distance} bits` },
  { title: 'url', cell: (page) => page.url },
  { title: 'state', cell: (page) => page.state },
  { title: 'title', cell: (page) => page.title ?? '' },
];

export function nearPage(url: string, near: readonly NearPage[] | null): Markup {
  return markup`<p>${urlLink(url)}</p>${
    near === null
      ? markup`<p class="nothing">This page is unknown, or has no signature for likeness.</p>`
      : htmlTable('Pages whose signatures differ by at most 3 bits', NEAR_COLUMNS, near, {
          url: (page) => urlLink(page.url),
        })
  }`;
}
