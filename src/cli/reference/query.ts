import { type FieldType, METADATA_PREFIX, QUERY_FIELDS } from '../../domain/query/fields.ts';
import { LITERAL_EXAMPLES } from '../../domain/query/literal.ts';
import type { ReferencePage } from './page.ts';

const OPERATORS: readonly (readonly [string, string])[] = [
  ['= (==, is), != (<>)', 'equal, not equal; null stands for a missing value, which equals nothing else'],
  ['<, <=, >, >=', 'order of numbers, times, durations, sizes and texts; a missing value is in none'],
  ['~ (contains)', 'the text contains this, in any case'],
  ['like', 'the whole text is this, in any case; * stands for any text'],
  ['in (a, b)', 'one of these; also "not in"'],
  ['and (&&), or (||), not (!), ( )', '"and" binds closer than "or"; a field that is true or false may stand alone'],
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
      'What "incrawl readdb" asks of records: --where "state = fetched and interval > 30d", --sort FIELD[:desc], --fields a,b,c. Conditions on state, host, domain, failures and the beginning of url that stand in a chain of "and" are answered from an index where there is one; --explain-query says which.',
    parts: [
      {
        heading: 'Fields',
        columns: ['field', 'type', 'meaning'],
        rows: [
          ...QUERY_FIELDS.map(({ name, type, text }) => [name, TYPES[type], text]),
          [`${METADATA_PREFIX}NAME`, TYPES.any, 'what a seed or a plugin has written there'],
          ['visits, lastError, metadata', 'parts', 'of --fields only: as in the whole record'],
        ],
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
