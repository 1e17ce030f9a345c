import type { Crawler } from '../crawler/types.ts';

/**
 * The methods of a crawler that only read, and whose arguments and answers are plain data: those that a process which
 * holds the crawl db answers for others. `value`: one answer; `stream`: items, and perhaps a last word.
 */
export const QUESTIONS = {
  stats: 'value',
  groups: 'value',
  seen: 'value',
  record: 'value',
  records: 'stream',
  select: 'stream',
  topN: 'value',
  due: 'stream',
  hosts: 'stream',
  changes: 'stream',
  changeFeed: 'value',
  explain: 'value',
  near: 'value',
  plan: 'value',
  simulate: 'value',
} as const satisfies Partial<Record<keyof Crawler, 'value' | 'stream'>>;

export type Question = keyof typeof QUESTIONS;

/** All that can be asked of a crawl without changing it. */
export type CrawlReader = Pick<Crawler, Question>;

/** What the crawl db alone answers, without plugins or segments. */
export type DbQuestions = Pick<
  Crawler,
  'stats' | 'groups' | 'record' | 'records' | 'select' | 'topN' | 'due' | 'hosts' | 'changes' | 'changeFeed'
>;
