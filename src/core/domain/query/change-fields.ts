// core/domain/query/: the expressions of --where.

import type { ChangeRow } from '../crawl/change/change-feed.ts';
import { hostOf, topLevelDomain } from '../url/canonical/url-key.ts';
import type { FieldSet, QueryField } from './fields.ts';

type Field = QueryField<ChangeRow>;
type Row = readonly [name: string, type: Field['type'], text: string, read: Field['read']];

const ROWS: readonly Row[] = [
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

const all: readonly Field[] = ROWS.map(([name, type, text, read]) => ({ name, type, text, read }));
const byName: ReadonlyMap<string, Field> = new Map(all.map((field) => [field.name.toLowerCase(), field]));

/** The fields of `changes --where`. */
export const CHANGE_FIELDS: FieldSet<ChangeRow> = {
  all,
  named: (name) => byName.get(name.toLowerCase()),
  more: '',
};
