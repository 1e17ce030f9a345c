import { closestName } from '../../core/domain/closest-name.ts';
import type { CrawlState } from '../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { matcherOf } from '../../core/domain/query/expression.ts';
import type { QueryEnvironment } from '../../core/domain/query/fields.ts';
import { HOST_FIELDS } from '../../core/domain/query/hosts-and-changes.ts';
import { parseExpressionOver } from '../../core/domain/query/parse.ts';
import { topLevelDomain } from '../../core/domain/url/canonical/url-key.ts';
import type { CrawlDb, HostRow, StateCounts } from '../../core/ports/crawl-db.ts';
import { type Order, sortedHead } from '../../core/steps/records/sorted-head.ts';

const GROUPINGS = ['host', 'domain', 'tld'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface GroupView {
  readonly name: string;
  readonly hosts: number;
  readonly urls: number;
  readonly byState: StateCounts;
}

/** URLs by host, registrable domain or top-level domain, most first. Reads one row per host. */
export async function groupHosts(
  db: Pick<CrawlDb, 'hosts'>,
  grouping: Grouping,
  domainOf: (host: string) => string,
): Promise<GroupView[]> {
  const nameOf = { host: (host: string) => host, domain: domainOf, tld: topLevelDomain }[grouping];
  const groups = new Map<string, { hosts: number; urls: number; byState: Partial<Record<CrawlState, number>> }>();
  for await (const { host, urls, byState } of db.hosts()) {
    if (urls === 0) continue;
    const name = nameOf(host);
    let group = groups.get(name);
    if (group === undefined) {
      group = { hosts: 0, urls: 0, byState: {} };
      groups.set(name, group);
    }
    group.hosts++;
    group.urls += urls;
    for (const [state, count] of Object.entries(byState) as [CrawlState, number][]) {
      group.byState[state] = (group.byState[state] ?? 0) + count;
    }
  }
  return [...groups]
    .map(([name, group]) => ({ name, ...group }))
    .sort((a, b) => b.urls - a.urls || (a.name < b.name ? -1 : 1));
}

export interface HostQuery {
  /** An expression over the fields of a host; see `HOST_FIELDS`. */
  readonly where?: string;
  /** Field to sort by, with `:desc` or `:asc`; default: by key. */
  readonly sort?: string;
  readonly limit?: number;
}

/** Hosts by any conditions, in a pass over their rows. Throws `usage-invalid` for an invalid query. */
export async function* findHosts(
  db: Pick<CrawlDb, 'hosts'>,
  env: QueryEnvironment,
  { where, sort, limit = Number.POSITIVE_INFINITY }: HostQuery,
): AsyncGenerator<HostRow> {
  const matches = where === undefined ? null : matcherOf(parseExpressionOver(HOST_FIELDS, where, env.now), env);
  const order = sort === undefined ? null : orderOf(sort, env);
  const isCut = matches === null && order === null && Number.isFinite(limit);
  const rows = matching(db.hosts(isCut ? { limit } : {}), matches ?? (() => true));
  if (order !== null) yield* sortedHead(rows, order, limit);
  else yield* head(rows, limit);
}

async function* matching(rows: AsyncIterable<HostRow>, matches: (row: HostRow) => boolean): AsyncGenerator<HostRow> {
  for await (const row of rows) if (matches(row)) yield row;
}

async function* head(rows: AsyncIterable<HostRow>, limit: number): AsyncGenerator<HostRow> {
  let left = limit;
  if (left <= 0) return;
  for await (const row of rows) {
    yield row;
    if (--left <= 0) return;
  }
}

function orderOf(text: string, env: QueryEnvironment): Order<HostRow> {
  const [, name = '', direction] = /^(.*?)(?::(asc|desc))?$/.exec(text) ?? [];
  const field = HOST_FIELDS.named(name);
  if (field !== undefined) return { field, isDescending: direction === 'desc', env };
  const names = HOST_FIELDS.all.map((each) => each.name);
  const guess = closestName(name, names);
  const hint = guess === undefined ? `known are ${names.join(', ')}` : `did you mean ${guess}?`;
  throw new CrawlError('usage-invalid', `sort: hosts have no field "${name}"; ${hint}`);
}
