import type { Crawler } from '../../crawler/index.ts';
import type { PageVersion } from '../../crawler/views.ts';
import type { StoredCopy } from '../../query/pages/stored-copy.ts';
import { shortTime } from '../../render/columns.ts';
import { bytes } from '../../render/quantities.ts';
import { type Markup, markup, type Shown, urlLink } from '../markup.ts';
import type { ContentAddresses } from '../stored/content-address.ts';
import { showingOf } from '../stored/content-routes.ts';
import { versionForm } from './difference.ts';

/** A version as it is asked for: by its segment, or the last one until a time; by default the newest. */
export interface AskedVersion {
  readonly segment?: string | undefined;
  /** As typed or linked. */
  readonly at?: string | undefined;
}

const NO_VERSION =
  'This response of the page is not stored: none was fetched, or "incrawl state prune" has removed its segment.';

/** A stored page as it was, with what is known of that response above it. */
export async function storedPage(
  crawler: Crawler,
  addresses: ContentAddresses,
  url: string,
  asked: AskedVersion,
): Promise<Shown> {
  const versions = await crawler.versions(url);
  const version = chosenVersion(versions, asked);
  const copy = version && (await copyIn(crawler, url, version.segment));
  if (!version || !copy)
    return markup`<p>${urlLink(url)}</p><p class="nothing">${NO_VERSION}</p>${othersOf(url, versions)}`;
  const other = versions.findLast(({ at }) => at < version.at) ?? versions.find(({ at }) => at > version.at);
  return markup`<p>${urlLink(copy.url)}</p>
${wasMeant(asked, version) ? null : markup`<p class="notice">No response of ${shortTime(askedTime(asked))} is stored. This is the one ${version.at < askedTime(asked) ? 'before' : 'after'} it.</p>`}
${headOf(copy)}
<div class="links">${versionForm({ action: '/stored', url, versions, chosen: { segment: version.segment }, button: 'Show' })}
${other === undefined ? null : linksBetween(url, ...inOrder(version, other))}<a href="${addresses.download(url, version.segment)}">Download</a></div>
${frameOf(addresses, copy)}`;
}

const othersOf = (url: string, versions: readonly PageVersion[]): Markup | null =>
  versions.length === 0
    ? null
    : markup`<ul>${versions.map(({ segment, at }) => markup`<li><a href="${storedLink(url, segment)}">${shortTime(at)}</a></li>`)}</ul>`;

/** A page at two times, side by side. */
export async function comparedPages(
  crawler: Crawler,
  addresses: ContentAddresses,
  url: string,
  asked: { readonly from: string; readonly to: string },
): Promise<Shown> {
  const versions = await crawler.versions(url);
  const to = chosenVersion(versions, { segment: asked.to || undefined });
  const from =
    asked.from === ''
      ? versions.findLast(({ at, digest }) => to !== undefined && at < to.at && digest !== to.digest)
      : chosenVersion(versions, { segment: asked.from });
  if (to === undefined) return markup`<p>${urlLink(url)}</p><p class="nothing">${NO_VERSION}</p>`;
  if (from === undefined)
    return markup`<p>${urlLink(url)}</p><p class="nothing">Only one version of this page is stored: <a href="${storedLink(url, to.segment)}">as it was ${shortTime(to.at)}</a>.</p>`;
  const chosen = { from: from.segment, to: to.segment };
  const sides = [await sideOf(crawler, addresses, url, from), await sideOf(crawler, addresses, url, to)];
  return markup`<p>${urlLink(url)}</p>
<div class="links">${versionForm({ action: '/compare', url, versions, chosen, button: 'Compare' })}
<a href="${diffLink(url, from, to)}">What changed in the text</a></div>
<div class="sides">${sides}</div>`;
}

async function sideOf(
  crawler: Crawler,
  addresses: ContentAddresses,
  url: string,
  { segment, at }: PageVersion,
): Promise<Markup> {
  const copy = await copyIn(crawler, url, segment);
  const link = markup`<a href="${storedLink(url, segment)}">${shortTime(at)}</a>`;
  if (copy === null)
    return markup`<figure><figcaption>${link}</figcaption><p class="nothing">${NO_VERSION}</p></figure>`;
  const missing = missingText(copy);
  return markup`<figure><figcaption>${link}, HTTP ${copy.status}${missing === null ? null : `, requisites: ${missing}`}</figcaption><div class="pane">${frameOf(addresses, copy)}</div></figure>`;
}

/** Addresses of the document are of no interest here, but what is stored of its requisites is. */
const copyIn = (crawler: Crawler, url: string, segment: string): Promise<StoredCopy | null> =>
  crawler.storedCopy(url, { segment }, (found) => found.url);

function chosenVersion(versions: readonly PageVersion[], { segment, at }: AskedVersion): PageVersion | undefined {
  if (segment !== undefined) return versions.find((version) => version.segment === segment);
  const time = Date.parse(at ?? '');
  if (Number.isNaN(time)) return versions.at(-1);
  return versions.findLast((version) => Date.parse(version.at) <= time) ?? versions[0];
}

const askedTime = ({ at = '' }: AskedVersion): string => at;
const wasMeant = ({ segment, at }: AskedVersion, version: PageVersion): boolean =>
  segment !== undefined || Number.isNaN(Date.parse(at ?? '')) || Date.parse(at ?? '') === Date.parse(version.at);

function headOf(copy: StoredCopy): Markup {
  const { at, status, type, body, isRendered, requisites } = copy;
  const pairs = [
    ['fetched', shortTime(at)],
    ['HTTP', `${status}, ${type}, ${bytes(body.length)}`],
    ['shown', isRendered ? 'as a browser made it' : 'as the server sent it, without scripts'],
    ['requisites', requisites.named === 0 ? 'none' : (missingText(copy) ?? `all ${requisites.named} stored`)],
  ];
  return markup`<dl class="inline">${pairs.map(([label = '', value = '']) => markup`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

const missingText = ({ requisites: { named, stored } }: StoredCopy): string | null =>
  stored === named ? null : `${named - stored} of ${named} not stored`;

const inOrder = (a: PageVersion, b: PageVersion): [PageVersion, PageVersion] => (a.at < b.at ? [a, b] : [b, a]);

function linksBetween(url: string, from: PageVersion, to: PageVersion): Markup {
  return markup`<a href="${compareLink(url, from, to)}">Beside another date</a> <a href="${diffLink(url, from, to)}">What changed in the text</a> `;
}

const query = (fields: Readonly<Record<string, string>>): string => String(new URLSearchParams(fields));

const storedLink = (u: string, segment: string): string => `/stored?${query({ u, segment })}`;
const diffLink = (u: string, from: PageVersion, to: PageVersion): string =>
  `/diff?${query({ u, from: from.segment, to: to.segment })}`;
const compareLink = (u: string, from: PageVersion, to: PageVersion): string =>
  `/compare?${query({ u, from: from.segment, to: to.segment })}`;

/** Whatever is in the frame, it can neither act nor leave: see `contentHeaders`, and `frame-src` of these pages. */
function frameOf(addresses: ContentAddresses, copy: StoredCopy): Markup {
  const { url, segment, at, type, body } = copy;
  if (showingOf(copy) === null)
    return markup`<p class="nothing">A file of ${bytes(body.length)} (${type}), which is not shown here.</p>`;
  return markup`<iframe class="stored" sandbox="" referrerpolicy="no-referrer" src="${addresses.page(url, segment)}" title="The page as it was ${shortTime(at)}"></iframe>`;
}
