import { type Command, Option } from 'commander';
import type { CrawlState } from '../../../crawler/index.ts';
import { crawlStates, type FeedStart, feedStart, hostName } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { bytes, count, counted } from '../../../render/quantities.ts';
import { safeJson, safeLines } from '../../../render/safe-text.ts';
import { withStopSignal } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

interface ExportFlags {
  readonly format: string;
  readonly output?: string;
  readonly status?: CrawlState[];
  readonly host?: string;
  readonly where?: string;
  readonly withDuplicates?: true;
  readonly since?: FeedStart;
  readonly mergeBy?: 'depth';
  readonly whole?: true;
  readonly pagesOnly?: true;
  readonly force?: true;
  readonly dryRun?: boolean;
}

export function addExport(program: Command, run: Run): void {
  const command = program
    .command('export')
    .description(
      'Export the crawled pages for other tools. A crawl may run meanwhile. Formats come from exporter plugins ' +
        '(docs/exporting.md).',
    )
    .option(
      '--format <format>',
      'jsonl, csv, parquet, warc, markdown, tree, opensearch, solr, sqlite, webhook, kafka, or one of another exporter ' +
        'plugin',
      'jsonl',
    )
    .option(
      '-o, --output <place>',
      'a file, which appears when it is complete; for some formats a folder or a URL; default: stdout',
    )
    .option('--status <states>', 'only pages in these states, separated by commas', crawlStates)
    .option('--host <host>', 'only pages of this host', hostName)
    .option('--where <expr>', 'only pages whose record matches, such as "title ~ price": "incrawl help query"')
    .option('--with-duplicates', 'also pages that are duplicates of others')
    .option(
      '--since <time>',
      'only pages that changed since, and the URLs of removed ones: a time, an age (2h, 3d), or a number of the ' +
        'change feed',
      feedStart,
    )
    .addOption(
      new Option('--merge-by <order>', 'order by crawl depth: seeds first, then the pages that they link to').choices([
        'depth',
      ]),
    )
    .option(
      '--whole',
      'the whole page except its navigation, header and footer, in place of the main content: in Markdown, and in the texts ' +
        'of other formats',
    )
    .option(
      '--pages-only',
      'warc and wacz: leave out the style sheets, scripts and pictures of the pages, where the crawl has them ' +
        '(fetch.requisites)',
    )
    .option('--force', 'let an export without pages replace a file that has content')
    .option('--dry-run', 'only say how many pages would be exported; nothing is written or sent')
    .addHelpText(
      'after',
      `
Examples:
  incrawl export --format jsonl --status fetched,notmodified -o pages.jsonl
  incrawl export --format csv --since 1d --force -o changed.csv
  incrawl export --where "domain = example.org and lang = en" -o english.jsonl
  incrawl export --format warc -o archive/
  incrawl export --format opensearch -o https://search.example:9200/pages --since 1d`,
    );
  command.action((flags: ExportFlags) =>
    run(command, (session) =>
      withStopSignal(
        session.surroundings,
        () => session.note('Stopping. A second signal stops at once.'),
        (signal) => exportPages(session, flags, signal),
      ),
    ),
  );
}

async function exportPages(session: Session, flags: ExportFlags, signal: AbortSignal): Promise<number> {
  const { output: place = null, since: from, pagesOnly, force = false, dryRun = false, ...rest } = flags;
  const { out } = session;
  const since = from === undefined ? {} : { since: 'after' in from ? from : { at: from.notedFrom } };
  const query = { ...rest, ...since, ...(pagesOnly && { requisites: false }), dryRun };
  const outlet = {
    place,
    write: (chunk: string | Uint8Array) =>
      out.write(out.isTerminal && typeof chunk === 'string' ? safeLines(safeJson(chunk)) : chunk),
    isClosed: () => out.closed,
    force,
    signal,
  };
  const exporting = session.withSnapshot((crawler) => crawler.export(query, outlet));
  const summary = await exporting.catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (summary === null) return EXIT.stopped;
  const { format, documents, removed, requisites, duplicates, seq } = summary;
  const gone = from === undefined ? '' : `, ${count(removed)} removed`;
  const copies = duplicates === 0 ? '' : `, ${counted(duplicates, 'duplicate')} left out (--with-duplicates)`;
  const needed = requisites === 0 ? '' : `, ${counted(requisites, 'requisite')}`;
  const text = `${counted(documents, 'page')}${needed}${gone}${copies}${summary.bytes === 0 ? '' : `, ${bytes(summary.bytes)}`}`;
  // Without a place, stdout holds the export itself.
  if (dryRun || (place !== null && session.json)) {
    const answer = { format, file: place, bytes: summary.bytes, documents, requisites, removed, duplicates, seq };
    await writeAnswer(session, answer, () => `${text}\n`, dryRun);
  } else if (place !== null) session.note(text);
  return EXIT.done;
}
