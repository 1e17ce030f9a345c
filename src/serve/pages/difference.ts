import type { PageDiff } from '../../crawler/index.ts';
import type { PageVersion } from '../../crawler/views.ts';
import { shortTime } from '../../render/columns.ts';
import { count } from '../../render/quantities.ts';
import { SAME_TEXT } from '../../render/text/diff-text.ts';
import { facts, urlLink } from '../html-table.ts';
import { linesOf, type Markup, markup, type Shown } from '../markup.ts';

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
${versionForm(diff.url, versions, from.segment, to.segment)}
${screenshots(diff)}
<p class="difference" dir="auto">${text}</p>`;
}

function screenshots({ url, from, to }: PageDiff): Markup | null {
  if (!from.hasScreenshot && !to.hasScreenshot) return null;
  return markup`<div class="screenshots">${[from, to].map(({ segment, at, hasScreenshot }) => (hasScreenshot ? screenshot(url, segment, at) : markup`<p class="nothing">No screenshot of ${shortTime(at)} is stored.</p>`))}</div>`;
}

/** What a screen showed of a stored version. */
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

function versionForm(url: string, versions: readonly PageVersion[], from: string, to: string): Markup {
  const select = (name: string, label: string, chosen: string): Markup => {
    const options = versions.map(
      ({ segment, at }) =>
        markup`<option value="${segment}"${segment === chosen ? markup` selected` : null}>${shortTime(at)} (${segment})</option>`,
    );
    return markup`<label for="${name}">${label}</label><select id="${name}" name="${name}">${options}</select>`;
  };
  return markup`<form class="query" action="/diff" method="get"><input type="hidden" name="u" value="${url}">${select('from', 'From', from)}${select('to', 'to', to)}<button>Compare</button></form>`;
}
