import { changeRateBucket, changeRateOf } from '../../../core/domain/crawl/change/change-rate.ts';
import { groupOf } from '../../../core/domain/crawl/hazard/expectation.ts';
import { dueFacts, isDueByHazard } from '../../../core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum, CrawlState } from '../../../core/domain/crawl/states/datum.ts';
import { hostFromPrefix, hostPrefix, type KeyRange, prefixRange } from '../../../core/domain/url/canonical/url-key.ts';
import { dueOfGroupKey, ROW } from '../codecs/keys.ts';

/**
 * Index rows, which say all in their key. Only rare properties are indexed, and the pages of a host by group and time:
 * most records are of new URLs, which cost nothing here. All index rows are derived from the record, so they can be
 * rebuilt at any time.
 */

/** Letters of the states that have an index. They are stored on disk, so they are never reused. */
const STATE_MARKS: Partial<Record<CrawlState, string>> = {
  gone: 'g',
  redir_temp: 't',
  redir_perm: 'p',
  duplicate: 'd',
  orphan: 'o',
  parse_failed: 'e',
};
const FAILING_MARK = 'f';

/** Whether records of the state can be found without a scan. */
export const isIndexedState = (state: CrawlState): boolean => STATE_MARKS[state] !== undefined;

/** The keys of the index rows of a record, given its URL key. */
export function indexRowsOf(datum: CrawlDatum, key: string): string[] {
  const rows: string[] = [];
  const mark = STATE_MARKS[datum.state];
  if (mark !== undefined) rows.push(ROW.mark + mark + key);
  if (datum.failures > 0) rows.push(ROW.mark + FAILING_MARK + key);
  const rate = changeRateOf(datum);
  if (rate !== null) rows.push(changingKey(key, changeRateBucket(rate)));
  if (datum.nextFetchAt !== null && isDueByHazard(dueFacts(datum))) {
    rows.push(dueOfGroupKey(key, groupOf(datum.url), datum.nextFetchAt));
  }
  return rows;
}

/** Index rows of a state, or of failing pages, whose URL keys lie in a range. */
export function markRange(of: CrawlState | 'failing', range: KeyRange | undefined): KeyRange {
  const mark = of === 'failing' ? FAILING_MARK : STATE_MARKS[of];
  if (mark === undefined) throw new TypeError(`the state ${of} has no index`);
  const prefix = ROW.mark + mark;
  return range === undefined ? prefixRange(prefix) : { from: prefix + range.from, to: prefix + range.to };
}

/** The URL key of a row of `markRange`. */
export const urlKeyOfMark = (row: string): string => row.slice(2);

const STEP_DIGITS = 2;

function changingKey(key: string, step: number): string {
  const origin = hostPrefix(hostFromPrefix(key));
  const falling = (255 - step).toString(16).padStart(STEP_DIGITS, '0');
  return `${ROW.changing}${origin}${falling}${key.slice(origin.length)}`;
}

export interface ChangingRow {
  /** Host key. */
  readonly origin: string;
  /** As `changeRateBucket`. */
  readonly step: number;
  readonly urlKey: string;
}

export function parseChangingKey(row: string): ChangingRow {
  const rest = row.slice(1);
  const origin = hostPrefix(hostFromPrefix(rest));
  const end = origin.length + STEP_DIGITS;
  return {
    origin,
    step: 255 - Number.parseInt(rest.slice(origin.length, end), 16),
    urlKey: origin + rest.slice(end),
  };
}
