/**
 * What `verify` can find wrong in a state directory, and what `repair` does about it. The codes are stable; a script
 * may rely on them.
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
  'repair-unfinished': { text: 'A repair was cut short.', repair: 'begins it again' },
  'row-unreadable': { text: 'A row cannot be decoded.', repair: 'moves it to the quarantine' },
  'row-unknown': { text: 'A row of a kind that this incrawl does not know.', repair: 'leaves it' },
  'record-misplaced': { text: 'A record lies under a key that is not its own.', repair: 'moves it to the quarantine' },
  'due-missing': { text: 'A page that has to be visited is missing in the due index.', repair: 'rebuilds the index' },
  'due-differs': { text: 'An entry of the due index differs from its record.', repair: 'rebuilds the index' },
  'due-stray': { text: 'An entry of the due index that no record asks for.', repair: 'rebuilds the index' },
  'index-missing': {
    text: 'An index of states, failing or changing pages lacks a record.',
    repair: 'rebuilds the indexes',
  },
  'index-stray': {
    text: 'An index of states, failing or changing pages has a row that no record asks for.',
    repair: 'rebuilds the indexes',
  },
  'lease-stray': {
    text: 'A URL is leased to a segment that the crawl db does not know or is done with, or has no record.',
    repair: 'ends the lease; the URL is due again',
  },
  'lease-differs': { text: 'A lease differs from the record of its URL.', repair: 'renews it' },
  'links-stray': { text: 'Stored outlinks of a page without a record.', repair: 'moves them to the quarantine' },
  'host-counts': { text: 'The counters of a host differ from its records.', repair: 'counts again' },
  'counts-differ': { text: 'The counters of the crawl db differ from its rows.', repair: 'counts again' },
  'feed-differs': {
    text: 'Entries of the change feed stand outside its ends.',
    repair: 'makes the ends anew',
  },
  'filter-misses': {
    text: 'The filter of seen URLs denies a URL that the crawl db has.',
    repair: 'throws the filter away; the next start makes it anew',
  },
  'near-missing': {
    text: 'The tables of signatures miss a page, or a duplicate.',
    repair: 'throws the tables away; the next start makes them anew',
  },
  'near-stray': {
    text: 'The tables of signatures hold more than there are pages.',
    repair: 'throws the tables away; the next start makes them anew',
  },
  'segment-absent': {
    text: 'The crawl db knows a segment that is not on disk.',
    repair: 'forgets it; its URLs are due again',
  },
  'segment-unreadable': { text: 'A segment cannot be told from its mark.', repair: 'moves it to the quarantine' },
  'segment-damaged': {
    text: 'A record file of a segment is damaged.',
    repair: 'keeps a copy, then cuts the file back to what can be read',
  },
  'response-missing': {
    text: 'A stored response that a segment points at is missing or damaged.',
    repair: 'keeps a copy, then takes the pages out of the segment',
  },
  'warc-damaged': {
    text: 'A WARC file has a record that cannot be read.',
    repair: 'keeps a copy, then takes the pages in that record out of the segment',
  },
} as const satisfies Record<string, { readonly text: string; readonly repair: string }>;

export type FindingKind = keyof typeof FINDINGS;

export interface Finding {
  readonly kind: FindingKind;
  /** URL, host, segment or file. */
  readonly subject: string;
  readonly detail: string;
}
