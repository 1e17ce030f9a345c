import { CHANGE_KINDS } from '../../core/domain/crawl/change/page-change.ts';
import { CRAWL_STATES } from '../../core/domain/crawl/states/datum.ts';
import type {
  ChangeKind,
  ChangeView,
  CrawlState,
  DbStats,
  DueView,
  HostView,
  RecordView,
} from '../../crawler/index.ts';
import { CHANGE_COLUMNS, DUE_COLUMNS, HOST_COLUMNS, RECORD_COLUMNS } from '../../render/columns.ts';
import { count } from '../../render/quantities.ts';
import { barTable } from '../charts/bars.ts';
import { htmlTable, type Markup, markup, short, urlLink } from '../markup.ts';
import { type ListPage, ROWS } from '../paging.ts';

const url = (row: { readonly url: string }): Markup => urlLink(row.url);

export function changesPage(
  { rows, links }: ListPage<ChangeView>,
  kind: ChangeKind | null,
  freshness: DbStats['freshness'],
): Markup {
  const feed = `/changes.atom${kind === null ? '' : `?kind=${kind}`}`;
  return markup`${choice('/changes', 'kind', 'Kind', CHANGE_KINDS, kind)}
<p><a href="${feed}" type="application/atom+xml">Subscribe in a feed reader (Atom)</a></p>
${htmlTable('Changes, newest first', CHANGE_COLUMNS, rows, { url })}${links}
${freshness === null ? null : periods(freshness)}`;
}

function periods({ periods }: NonNullable<DbStats['freshness']>): Markup {
  const bars = periods.map(({ upToDays, pages }, i) => ({
    label: upToDays === null ? 'longer' : `${i === 0 ? 'up to' : `${periods[i - 1]?.upToDays} to`} ${upToDays} d`,
    value: pages,
  }));
  return barTable('Pages by estimated time between major changes', bars);
}

export function duePage({ rows, links }: ListPage<DueView>): Markup {
  return markup`${htmlTable('Due URLs, in the order of the due index', DUE_COLUMNS, rows, { url })}${links}`;
}

/** The largest of these hosts. `isCut`: the crawl db has more hosts than these. */
export function hostsPage(hosts: readonly HostView[], isCut: boolean): Markup {
  const host = (row: HostView): Markup =>
    markup`<a href="/pages?host=${encodeURIComponent(row.host)}"><bdi>${row.host}</bdi></a>`;
  const largest = [...hosts].sort((a, b) => b.urls - a.urls).slice(0, ROWS);
  const of = isCut ? ` of the first ${count(hosts.length)}` : '';
  return htmlTable(`Hosts, at most ${ROWS}${of}, by number of URLs`, HOST_COLUMNS, largest, { host });
}

export interface PagesQuery {
  readonly status: CrawlState | null;
  readonly host: string;
  readonly prefix: string;
}

export function pagesPage({ rows, links }: ListPage<RecordView>, query: PagesQuery): Markup {
  return markup`<form class="query" action="/pages" method="get">
${selection('status', 'State', CRAWL_STATES, query.status)}
<label for="host">Host</label><input id="host" name="host" type="text" value="${query.host}" autocomplete="off" spellcheck="false">
<label for="prefix">URL begins with</label><input id="prefix" name="prefix" type="text" value="${query.prefix}" autocomplete="off" spellcheck="false">
<button>Show</button></form>
${htmlTable('Pages by host', RECORD_COLUMNS, rows, { url })}${links}`;
}

/** Duplicates, grouped under the page that they repeat. */
export function duplicatesPage({ rows, links }: ListPage<RecordView>): Markup {
  const groups = new Map<string, RecordView[]>();
  for (const each of rows) {
    const target = each.target ?? '';
    groups.set(target, [...(groups.get(target) ?? []), each]);
  }
  if (groups.size === 0) {
    return markup`<p class="nothing">No page is marked as a duplicate. <code>incrawl dedup</code> finds duplicates.</p>`;
  }
  const sections = [...groups].map(
    ([target, members]) =>
      markup`<section><h2>${urlLink(target)}</h2><ul>${members.map((member) => markup`<li>${urlLink(member.url)} <span class="pale"><bdi>${short(member.title ?? '')}</bdi></span></li>`)}</ul></section>`,
  );
  return markup`<p>${rows.length} duplicates of ${groups.size} pages. Each heading names the page that stayed unmarked.</p>${sections}${links}`;
}

function choice(action: string, name: string, label: string, values: readonly string[], now: string | null): Markup {
  return markup`<form class="query" action="${action}" method="get">${selection(name, label, values, now)}<button>Show</button></form>`;
}

function selection(name: string, label: string, values: readonly string[], now: string | null): Markup {
  const options = values.map(
    (value) => markup`<option value="${value}"${value === now ? markup` selected` : null}>${value}</option>`,
  );
  return markup`<label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">all</option>${options}</select>`;
}
