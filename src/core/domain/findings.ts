/**
 * Findings of `state verify`, with the action of `state repair`. The codes are stable; scripts may rely on
 * them.
 */
export const FINDINGS = {
  'db-unopenable': {
    text: 'LevelDB cannot open the crawl db.',
    repair: 'keeps a copy, then rebuilds the db from the tables that can be read',
  },
  'db-unreadable': {
    text: 'A part of the crawl db cannot be read.',
    repair: 'keeps a copy, then rebuilds the db from the tables that can be read',
  },
  'db-missing': {
    text: 'The crawl db is missing or empty, though segments lie beside it: it was lost.',
    repair: 'cannot rebuild it: restore a backup ("incrawl state restore"), or begin a new crawl in another directory',
  },
  'repair-unfinished': { text: 'A repair was interrupted.', repair: 'starts it again' },
  'row-unreadable': { text: 'A row cannot be decoded.', repair: 'moves it to the quarantine' },
  'row-unknown': { text: 'A row is of a kind that this version of incrawl does not know.', repair: 'leaves it' },
  'record-misplaced': { text: 'A record lies under a key that is not its own.', repair: 'moves it to the quarantine' },
  'due-missing': { text: 'A record with a due time is missing from the due index.', repair: 'rebuilds the index' },
  'due-differs': { text: 'An entry of the due index differs from its record.', repair: 'rebuilds the index' },
  'due-stray': { text: 'The due index has an entry that no record accounts for.', repair: 'rebuilds the index' },
  'index-missing': {
    text: 'An index of states, failing or changing pages lacks a record.',
    repair: 'rebuilds the indexes',
  },
  'index-stray': {
    text: 'An index of states, failing or changing pages has a row that no record accounts for.',
    repair: 'rebuilds the indexes',
  },
  'lease-stray': {
    text: 'A lease is of an unknown or updated segment, or of a URL without a record.',
    repair: 'ends the lease; the URL is due again',
  },
  'lease-differs': { text: 'A lease differs from the record of its URL.', repair: 'renews it' },
  'links-stray': { text: 'Stored outlinks of a page without a record.', repair: 'moves them to the quarantine' },
  'host-counts': { text: 'The counters of a host differ from its records.', repair: 'counts again' },
  'counts-differ': { text: 'The counters of the crawl db differ from its rows.', repair: 'counts again' },
  'feed-differs': {
    text: 'The change feed has entries outside its range.',
    repair: 'recomputes the range',
  },
  'filter-misses': {
    text: 'The filter of seen URLs lacks a URL of the crawl db.',
    repair: 'deletes the filter; the next start rebuilds it',
  },
  'near-missing': {
    text: 'The signature tables lack a page or a duplicate.',
    repair: 'deletes the tables; the next start rebuilds them',
  },
  'near-stray': {
    text: 'The signature tables have more entries than there are pages.',
    repair: 'deletes the tables; the next start rebuilds them',
  },
  'segment-absent': {
    text: 'The crawl db lists a segment that is not on disk.',
    repair: 'deletes its row; its URLs are due again',
  },
  'segment-unreadable': { text: 'The end mark of a segment cannot be read.', repair: 'moves it to the quarantine' },
  'segment-damaged': {
    text: 'A record file of a segment is damaged.',
    repair: 'keeps a copy, then truncates the file to its readable part',
  },
  'response-missing': {
    text: 'A stored response that a segment refers to is missing or damaged.',
    repair: 'keeps a copy, then removes the pages from the segment',
  },
  'warc-damaged': {
    text: 'A WARC file has a record that cannot be read.',
    repair: 'keeps a copy, then removes the pages of that record from the segment',
  },
} as const satisfies Record<string, { readonly text: string; readonly repair: string }>;

export type FindingKind = keyof typeof FINDINGS;

export interface Finding {
  readonly kind: FindingKind;
  /** URL, host, segment or file. */
  readonly subject: string;
  readonly detail: string;
  /** Of a spread crawl: the partition, three digits. */
  readonly partition?: string;
}
