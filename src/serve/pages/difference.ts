// serve/pages/: pages of the live view.

import type { PageDiff } from '../../crawler/index.ts';
import type { NearPage, PageVersion, ParseCheck } from '../../crawler/views.ts';
import { shortTime } from '../../render/columns.ts';
import { count } from '../../render/quantities.ts';
import type { Column } from '../../render/table.ts';
import { SAME_TEXT } from '../../render/text/diff-text.ts';
import { facts, htmlTable, linesOf, type Markup, markup, type Shown, urlLink } from '../markup.ts';

/** Equal text longer than this is cut in the middle, characters. */
const MAX_EQUAL = 400;

/** One text: removed words struck out, added words underlined. */
export function differencePage(diff: PageDiff, versions: readonly PageVersion[]): Markup {
  const { from, to, distance, edits, where } = diff;
  const last = edits.length - 1;
  const text = edits.map(({ op, text: part }, i): Shown => {
    if (op === 'delete') return markup`<del>${linesOf(part)}</del>`;
    if (op === 'insert') return markup`<ins>${linesOf(part)}</ins>`;
    return linesOf(part.length <= MAX_EQUAL ? part : middleCut(part, i === 0 && i < last, i === last && i > 0));
  });
  return markup`<p>${urlLink(diff.url)}</p>
${facts([
  ['from', `${shortTime(from.at)}, segment ${from.segment}`],
  ['to', `${shortTime(to.at)}, segment ${to.segment}`],
  ['words equal', count(diff.equal)],
  ['removed', count(diff.deleted)],
  ['added', count(diff.inserted)],
  ['changed in', where.length > 0 ? where.join(', ') : from.digest === to.digest ? null : SAME_TEXT],
  ['distance', distance === null ? null : `${distance} bits`],
])}
<div class="links">${versionForm({ action: '/diff', url: diff.url, versions, chosen: { from: from.segment, to: to.segment }, button: 'Compare' })}
<a href="${`/compare?${new URLSearchParams({ u: diff.url, from: from.segment, to: to.segment })}`}">Both as they were, side by side</a></div>
${screenshots(diff)}
<p class="difference" dir="auto">${text}</p>`;
}

function screenshots({ url, from, to }: PageDiff): Markup | null {
  if (!from.hasScreenshot && !to.hasScreenshot) return null;
  return markup`<div class="screenshots">${[from, to].map(({ segment, at, hasScreenshot }) => (hasScreenshot ? screenshot(url, segment, at) : markup`<p class="nothing">No screenshot of ${shortTime(at)} is stored.</p>`))}</div>`;
}

/** The screenshot of a stored version. */
export function screenshot(url: string, segment: string, at: string): Markup {
  const source = `/screenshot?u=${encodeURIComponent(url)}&segment=${encodeURIComponent(segment)}`;
  const when = shortTime(at);
  return markup`<figure class="screenshot"><a href="${source}"><img src="${source}" alt="The page as a browser showed it, ${when}" width="1280" height="800" loading="lazy"></a><figcaption>${when}, segment ${segment}</figcaption></figure>`;
}

/** Keeps the ends that are next to an edit. */
function middleCut(text: string, isFirst: boolean, isLast: boolean): string {
  const half = MAX_EQUAL / 2;
  return `${isFirst ? '' : text.slice(0, half)} […] ${isLast ? '' : text.slice(-half)}`;
}

/** Versions to choose: each name of `chosen` is a field with the segment that it has now. */
export function versionForm({ action, url, versions, chosen, button }: VersionForm): Markup {
  const select = ([name, segment]: readonly [string, string]): Markup => {
    const options = versions.map(
      (version) =>
        markup`<option value="${version.segment}"${version.segment === segment ? markup` selected` : null}>${shortTime(version.at)} (${version.segment})</option>`,
    );
    return markup`<label for="${name}">${LABELS[name] ?? name}</label><select id="${name}" name="${name}">${options}</select>`;
  };
  return markup`<form class="query" action="${action}" method="get"><input type="hidden" name="u" value="${url}">${Object.entries(chosen).map(select)}<button>${button}</button></form>`;
}

interface VersionForm {
  readonly action: string;
  readonly url: string;
  readonly versions: readonly PageVersion[];
  readonly chosen: Readonly<Record<string, string>>;
  readonly button: string;
}

const LABELS: Readonly<Record<string, string>> = { from: 'From', to: 'to', segment: 'Version' };

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
