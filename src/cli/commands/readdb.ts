import { type Command, Option } from 'commander';
import type { Crawler, CrawlState } from '../../crawler.ts';
import { EXIT } from '../exit.ts';
import type { Run } from '../program.ts';
import { DUE_COLUMNS, HOST_COLUMNS, RECORD_COLUMNS } from '../render/columns.ts';
import { type ListFormat, writeListing } from '../render/listing.ts';
import { recordText, statsText } from '../render/record-text.ts';
import { safeText } from '../render/safe-text.ts';
import { seenText } from '../render/seen-text.ts';
import type { Column } from '../render/table.ts';
import type { Session } from '../session.ts';
import { crawlState, wholeNumber } from '../shared-options.ts';

interface ReaddbFlags {
  readonly stats?: true;
  readonly url?: string;
  readonly dump?: true;
  readonly topN?: number;
  readonly host?: string;
  readonly status?: CrawlState;
  readonly prefix?: string;
  readonly due?: true;
  readonly hosts?: true;
  readonly seen?: true;
  readonly limit?: number;
  readonly format?: ListFormat;
}

/** The questions that exclude each other; `--host`, `--status`, `--prefix` alone mean `--dump` of those records. */
const QUESTIONS = ['stats', 'url', 'dump', 'topN', 'due', 'hosts', 'seen'] as const;

export function addReaddb(program: Command, run: Run): void {
  const command = program
    .command('readdb')
    .description('Ask the crawl db. One question at a time; --stats when none is named.')
    .option('--stats', 'counts by state, what is due, spread of the intervals')
    .option('--url <url>', 'the record of one URL with its visits')
    .option('--dump', 'all records')
    .option('--top-n <n>', 'the records with the highest scores', wholeNumber(1))
    .option('--due', 'what is due, oldest first')
    .option('--hosts', 'hosts with their counts and what fetching taught about them')
    .option('--seen', 'how new URLs are told from known ones: cache, filter with its leaves, reads')
    .option('--host <host>', 'only records of this host (host or host:port)')
    .option('--status <state>', 'only records in this state', crawlState)
    .option('--prefix <url>', 'only records whose URL begins so')
    .option('--limit <n>', 'rows at most', wholeNumber(1))
    .addOption(
      new Option('--format <format>', 'of lists; --json prints one JSON array').choices(['table', 'jsonl', 'csv']),
    )
    .addHelpText(
      'after',
      `
Examples:
  incrawl readdb --stats
  incrawl readdb --url https://example.org/
  incrawl readdb --dump --host example.org --status gone --format csv > gone.csv`,
    );
  command.action((flags: ReaddbFlags) =>
    run(command, async (session) => {
      const asked = QUESTIONS.filter((question) => flags[question] !== undefined);
      const filtered = flags.host ?? flags.status ?? flags.prefix;
      if (asked.length > 1) return session.refuse(`${asked.map(optionName).join(' and ')} are two questions: ask one`);
      const question = asked[0] ?? (filtered === undefined ? 'stats' : 'dump');
      if (filtered !== undefined && question !== 'dump') {
        return session.refuse(`--host, --status and --prefix choose records of --dump, not of ${optionName(question)}`);
      }
      return session.withCrawler((crawler) => answer(session, crawler, question, flags));
    }),
  );
}

async function answer(
  session: Session,
  crawler: Crawler,
  question: (typeof QUESTIONS)[number],
  flags: ReaddbFlags,
): Promise<number> {
  const { limit } = flags;
  const atMost = limit === undefined ? {} : { limit };
  const list = async <Row extends object>(
    rows: AsyncIterable<Row> | Iterable<Row>,
    columns: readonly Column<Row>[],
  ): Promise<number> => {
    const format = flags.format ?? (session.json ? 'json' : 'table');
    const written = await writeListing(session.out, rows, { format, columns, bold: session.bold });
    if (written === 0 && format === 'table') session.note('Nothing matches.');
    return EXIT.done;
  };
  switch (question) {
    case 'stats': {
      const stats = await crawler.stats();
      await session.out.write(session.json ? `${JSON.stringify(stats)}\n` : statsText(stats));
      return EXIT.done;
    }
    case 'seen': {
      const seen = await crawler.seen();
      await session.out.write(session.json ? `${JSON.stringify(seen)}\n` : seenText(seen, session.bold));
      return EXIT.done;
    }
    case 'url': {
      const url = flags.url ?? '';
      const record = await crawler.record(url);
      if (session.json) await session.out.write(`${JSON.stringify(record)}\n`);
      else if (record !== null) await session.out.write(recordText(record, session.bold));
      if (record === null) session.note(`Not in the crawl db: ${safeText(url)}; "incrawl explain" tells why.`);
      return record === null ? EXIT.error : EXIT.done;
    }
    case 'topN':
      return list((await crawler.topN(flags.topN ?? 1)).slice(0, limit), RECORD_COLUMNS);
    case 'due':
      return list(crawler.due(atMost), DUE_COLUMNS);
    case 'hosts':
      return list(crawler.hosts(atMost), HOST_COLUMNS);
    case 'dump': {
      const { host, status, prefix } = flags;
      const query = { ...(host && { host }), ...(status && { status }), ...(prefix && { prefix }), ...atMost };
      return list(crawler.records(query), RECORD_COLUMNS);
    }
  }
}

const optionName = (name: string): string => `--${name === 'topN' ? 'top-n' : name}`;
