import { LITERAL_EXAMPLES } from '../../core/domain/query/expression.ts';
import { CONTENT_FIELDS, type FieldType, METADATA_PREFIX, QUERY_FIELDS } from '../../core/domain/query/fields.ts';
import { CHANGE_FIELDS, HOST_FIELDS } from '../../core/domain/query/hosts-and-changes.ts';
import type { ReferencePage } from './page.ts';

const OPERATORS: readonly (readonly [string, string])[] = [
  ['= (==, is), != (<>)', 'equal, not equal; null is a missing value, which equals nothing else'],
  ['<, <=, >, >=', 'order of numbers, times, durations, sizes and texts; false for a missing value'],
  ['~ (contains), !~', 'the text contains this, or does not, ignoring case; a missing value contains nothing'],
  ['like', 'the whole text matches this, ignoring case; * matches any text'],
  ['in (a, b)', 'one of these; also "not in"'],
  ['and (&&), or (||), not (!), ( )', '"and" binds tighter than "or"; a boolean field may stand alone'],
];

const TYPES: Readonly<Record<FieldType, string>> = {
  text: 'text',
  number: 'number',
  size: 'size, bytes',
  time: 'time',
  duration: 'duration',
  boolean: 'true or false',
  any: 'any',
};

export function queryPage(): ReferencePage {
  return {
    title: 'Queries',
    intro:
      'Queries of "incrawl readdb": --where "state = fetched and interval > 30d", --sort FIELD[:desc], ' +
      '--fields a,b,c. Conditions on state, host, domain, failures and the beginning of url that are joined by "and" ' +
      'use an index where there is one; --explain-query says which.',
    parts: [
      {
        heading: 'Fields',
        columns: ['field', 'type', 'meaning'],
        rows: [
          ...QUERY_FIELDS.map(({ name, type, text }) => [name, TYPES[type], text]),
          [`${METADATA_PREFIX}NAME`, TYPES.any, 'metadata of a seed or a plugin'],
          ...CONTENT_FIELDS.map(({ name, type, text }) => [
            name,
            TYPES[type],
            `${text}; for --where of readdb, export, due touch and reparse, which read the stored pages for it`,
          ]),
          ['visits, lastError, metadata', 'parts', 'for --fields only: as in the whole record'],
        ],
      },
      {
        heading: 'Fields of hosts (readdb --hosts)',
        columns: ['field', 'type', 'meaning'],
        rows: HOST_FIELDS.all.map(({ name, type, text }) => [name, TYPES[type], text]),
      },
      {
        heading: 'Fields of the change feed (changes --where)',
        columns: ['field', 'type', 'meaning'],
        rows: CHANGE_FIELDS.all.map(({ name, type, text }) => [name, TYPES[type], text]),
      },
      { heading: 'Operators', columns: ['operator', 'meaning'], rows: OPERATORS },
      {
        heading: 'Values',
        columns: ['type', 'written as'],
        rows: Object.entries(LITERAL_EXAMPLES).map(([type, text]) => [TYPES[type as FieldType], text]),
      },
    ],
  };
}
