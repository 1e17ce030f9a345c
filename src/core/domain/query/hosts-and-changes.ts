import type { ChangeRow } from '../crawl/change/change-feed.ts';
import { CRAWL_STATES, type CrawlState } from '../crawl/states/datum.ts';
import { type HostTraffic, latencyPercentile } from '../crawl/states/host-traffic.ts';
import { hostOf, topLevelDomain } from '../url/canonical/url-key.ts';
import type { FieldSet, QueryField } from './fields.ts';

/** What expressions over hosts read of a host. */
export interface QueriedHost {
  readonly host: string;
  readonly urls: number;
  readonly byState: Readonly<Partial<Record<CrawlState, number>>>;
  readonly facts: {
    readonly audits: number;
    readonly lies: number;
    readonly distrustedUntil: number | null;
    readonly conditionalHits: number;
    readonly conditionalMisses: number;
    readonly bytesSaved: number;
    readonly restUntil: number | null;
    readonly traffic: HostTraffic | null;
  };
}

type Field = QueryField<QueriedHost>;
type Row = readonly [name: string, type: Field['type'], text: string, read: Field['read']];

const ofTraffic =
  (name: keyof Omit<HostTraffic, 'latency'>) =>
  ({ facts }: QueriedHost): number =>
    facts.traffic?.[name] ?? 0;

const percentile =
  (share: number) =>
  ({ facts }: QueriedHost): number | null =>
    facts.traffic === null ? null : latencyPercentile(facts.traffic, share);

const ROWS: readonly Row[] = [
  ['host', 'text', 'host, with the port where it is not the default', ({ host }) => host],
  ['domain', 'text', 'registrable domain of the host', ({ host }, env) => env.domainOf(host)],
  ['tld', 'text', 'last label of the host', ({ host }) => topLevelDomain(host)],
  ['urls', 'number', 'URLs of the crawl db', ({ urls }) => urls],
  ...CRAWL_STATES.map(
    (state): Row => [state, 'number', 'of these, URLs in this state', (row) => row.byState[state] ?? 0],
  ),
  ['visits', 'number', 'visits that sent a request, or failed to', ofTraffic('visits')],
  ['dnsFailures', 'number', 'of these: the name could not be resolved', ofTraffic('dnsFailures')],
  ['connectionFailures', 'number', 'connections refused, broken off or not secured', ofTraffic('connectionFailures')],
  ['timeouts', 'number', 'connection, answer or body took too long', ofTraffic('timeouts')],
  ['receivedBytes', 'size', 'bytes received, headers included', ofTraffic('receivedBytes')],
  ['latencyP50', 'duration', 'time within which half of the answered visits ended', percentile(0.5)],
  ['latencyP90', 'duration', 'the same of nine in ten; off by 9 % at most', percentile(0.9)],
  ['latencyP99', 'duration', 'the same of 99 in a hundred', percentile(0.99)],
  ['audits', 'number', 'full fetches that checked the headers', ({ facts }) => facts.audits],
  ['lies', 'number', 'of these, those that found them wrong', ({ facts }) => facts.lies],
  [
    'headersTrusted',
    'boolean',
    'its headers are believed',
    ({ facts }, { now }) => !((facts.distrustedUntil ?? 0) > now),
  ],
  ['conditionalHits', 'number', 'conditional requests answered by 304', ({ facts }) => facts.conditionalHits],
  ['conditionalMisses', 'number', 'answered in full, with nothing new', ({ facts }) => facts.conditionalMisses],
  ['bytesSaved', 'size', 'bodies that were not transferred', ({ facts }) => facts.bytesSaved],
  [
    'restUntil',
    'time',
    'no request before, by its Retry-After',
    ({ facts: { restUntil } }, { now }) => (restUntil === null || restUntil <= now ? null : restUntil),
  ],
];

const all: readonly Field[] = ROWS.map(([name, type, text, read]) => ({ name, type, text, read }));
const byName: ReadonlyMap<string, Field> = new Map(all.map((field) => [field.name.toLowerCase(), field]));

/** The fields of `readdb --hosts --where` and `--sort`. */
export const HOST_FIELDS: FieldSet<QueriedHost> = {
  all,
  named: (name) => byName.get(name.toLowerCase()),
  more: '',
};

type ChangeField = QueryField<ChangeRow>;
type ChangeFieldRow = readonly [name: string, type: ChangeField['type'], text: string, read: ChangeField['read']];

const CHANGE_ROWS: readonly ChangeFieldRow[] = [
  ['kind', 'text', 'kind of the change', ({ kind }) => kind],
  ['url', 'text', 'canonical URL', ({ url }) => url],
  ['host', 'text', 'host, with the port where it is not the default', ({ url }) => hostOf(url)],
  ['domain', 'text', 'registrable domain of the host', ({ url }, env) => env.domainOf(hostOf(url))],
  ['tld', 'text', 'last label of the host', ({ url }) => topLevelDomain(hostOf(url))],
  ['at', 'time', 'time of the visit that found it', ({ at }) => at],
  ['notedAt', 'time', 'when it was written to the feed', ({ notedAt }) => notedAt],
  ['state', 'text', 'state of the page after it', ({ state }) => state],
  ['httpStatus', 'number', 'status of the answer', ({ status }) => status],
  ['distance', 'number', 'Hamming distance of the signatures, bits', ({ distance }) => distance],
  ['target', 'text', 'target of a redirect, or the page that a duplicate repeats', ({ target }) => target],
  ['title', 'text', 'title of the page', ({ title }) => title],
  ['blocks', 'text', 'names of the places that differ, separated by spaces', ({ blocks }) => blocks?.join(' ') ?? null],
];

const changeFields: readonly ChangeField[] = CHANGE_ROWS.map(([name, type, text, read]) => ({
  name,
  type,
  text,
  read,
}));
const changeFieldsByName: ReadonlyMap<string, ChangeField> = new Map(
  changeFields.map((field) => [field.name.toLowerCase(), field]),
);

/** The fields of `changes --where`. */
export const CHANGE_FIELDS: FieldSet<ChangeRow> = {
  all: changeFields,
  named: (name) => changeFieldsByName.get(name.toLowerCase()),
  more: '',
};
