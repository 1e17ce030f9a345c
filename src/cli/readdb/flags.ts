import type { CrawlState, RecordQuery } from '../../crawler/index.ts';
import type { Grouping } from '../../crawler/views.ts';
import type { ListFormat } from '../../render/listing.ts';

export interface ReaddbFlags {
  readonly stats?: true;
  readonly by?: Grouping;
  readonly full?: true;
  readonly url?: string;
  readonly dump?: true;
  readonly topN?: number;
  readonly due?: true;
  /** Due for at least this long, ms. */
  readonly overdue?: number;
  readonly hosts?: true;
  readonly seen?: true;
  /** A URL. */
  readonly inlinks?: string;
  readonly broken?: true;
  readonly host?: string;
  readonly domain?: string;
  readonly status?: CrawlState;
  readonly prefix?: string;
  readonly type?: string;
  readonly retryMin?: number;
  readonly where?: string;
  readonly sample?: number;
  readonly sort?: string;
  readonly fields?: readonly string[];
  readonly limit?: number;
  readonly format?: ListFormat;
  readonly explainQuery?: true;
}

/** One question, with the format of its answer. */
export type Question = { readonly flags: ReaddbFlags } & (
  | { readonly kind: 'stats' | 'url' | 'hosts' | 'inlinks' | 'broken' }
  | { readonly kind: 'seen' }
  | { readonly kind: 'groups'; readonly by: Grouping }
  /** Entries of the due index. */
  | { readonly kind: 'due'; readonly forMs: number }
  | { readonly kind: 'records'; readonly query: RecordQuery }
);

/** Options that exclude each other. */
const QUESTIONS = ['stats', 'url', 'dump', 'topN', 'due', 'overdue', 'hosts', 'seen', 'inlinks', 'broken'] as const;
/** Options that select records or their fields: without a question they imply `--dump`. */
const CHOICES = [
  'host',
  'domain',
  'status',
  'prefix',
  'type',
  'retryMin',
  'where',
  'sample',
  'sort',
  'fields',
] as const;

/** The options that a question about hosts accepts as well. */
const OF_HOSTS: readonly string[] = ['where', 'sort'];

/** Questions about records, which take {@link CHOICES}. */
const OF_RECORDS: readonly string[] = ['dump', 'topN', 'due', 'overdue'];

export function questionOf(flags: ReaddbFlags): Question | { readonly error: string } {
  const asked = QUESTIONS.filter((question) => flags[question] !== undefined);
  const chosen = CHOICES.filter((choice) => flags[choice] !== undefined);
  if (asked.length > 1) return { error: `${asked.map(optionName).join(' and ')} are two questions: ask one` };
  const question = asked[0] ?? (chosen.length > 0 ? 'dump' : 'stats');
  const ofRecords = question === 'hosts' ? chosen.filter((choice) => !OF_HOSTS.includes(choice)) : chosen;
  if (ofRecords.length > 0 && !OF_RECORDS.includes(question)) {
    const are = ofRecords.length === 1 ? 'chooses' : 'choose';
    return {
      error: `${ofRecords.map(optionName).join(', ')} ${are} records of --dump, not of ${optionName(question)}`,
    };
  }
  if (flags.by !== undefined && question !== 'stats') return { error: '--by goes with --stats' };
  if (flags.full && question !== 'stats' && question !== 'hosts') return { error: '--full goes with --stats, --hosts' };
  switch (question) {
    case 'stats':
      return flags.by === undefined ? { kind: 'stats', flags } : { kind: 'groups', by: flags.by, flags };
    case 'due':
    case 'overdue': {
      const forMs = flags.overdue ?? 0;
      return chosen.length === 0
        ? { kind: 'due', forMs, flags }
        : { kind: 'records', query: { ...conditionsOf(flags), dueForMs: forMs }, flags };
    }
    case 'dump':
    case 'topN':
      return { kind: 'records', query: conditionsOf(flags), flags };
    default:
      return { kind: question, flags };
  }
}

function conditionsOf(flags: ReaddbFlags): RecordQuery {
  const { host, domain, status, prefix, type, retryMin: failures, where, sample, topN } = flags;
  const limit = topN === undefined ? flags.limit : Math.min(topN, flags.limit ?? topN);
  const sort = topN === undefined ? flags.sort : descending(flags.sort ?? 'score');
  const named = { host, domain, status, prefix, type, failures, where, sample, sort, limit };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

const descending = (sort: string): string => (sort.includes(':') ? sort : `${sort}:desc`);

const optionName = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
