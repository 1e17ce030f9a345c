import { type Command, Option } from 'commander';
import type { Crawler, CrawlState, ExportSummary } from '../../../crawler.ts';
import { type FeedStart, feedStart } from '../../changes/feed-start.ts';
import { EXIT } from '../../exit.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import { dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { crawlStates, hostName } from '../../program/shared-options.ts';
import { bytes, count } from '../../render/quantities.ts';

interface ExportFlags {
  readonly format: string;
  readonly output?: string;
  readonly status?: CrawlState[];
  readonly host?: string;
  readonly since?: FeedStart;
  readonly mergeBy?: 'depth';
  readonly dryRun?: boolean;
}

export function addExport(program: Command, run: Run): void {
  const command = program
    .command('export')
    .description(
      'What was crawled, for other tools. A crawl may run meanwhile. Formats come from exporter plugins (docs/exporting.md).',
    )
    .option(
      '--format <format>',
      'jsonl, csv, parquet, warc, markdown, tree, opensearch, webhook, or that of another exporter',
      'jsonl',
    )
    .option(
      '-o, --output <place>',
      'a file, which appears when it is whole; for some formats a folder or a URL; default: stdout',
    )
    .option('--status <states>', 'only pages in these states, separated by commas', crawlStates)
    .option('--host <host>', 'only pages of this host', hostName)
    .option(
      '--since <time>',
      'only pages that changed since, and the URLs of those that went away: a time, how long ago (2h, 3d), or a number of the change feed',
      feedStart,
    )
    .addOption(
      new Option('--merge-by <order>', 'layer by layer: seeds first, then the pages they link to').choices(['depth']),
    )
    .option('--dry-run', 'only say how many pages it would be; nothing is written or sent')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl export --format jsonl --status fetched,notmodified -o pages.jsonl\n  incrawl export --format csv --since 1d -o changed.csv\n  incrawl export --format warc -o archive/\n  incrawl export --format opensearch -o https://search.example:9200/pages --since 1d',
    );
  command.action(({ output, since: from, dryRun = false, ...rest }: ExportFlags) =>
    run(command, async (session) => {
      const { out } = session;
      const place = output ?? null;
      const since = from === undefined ? {} : { since: 'after' in from ? from : { at: from.notedFrom } };
      const query = { ...rest, ...since, dryRun };
      const stop = listenForStop(() => session.note('Stopping; a second signal ends it at once.'));
      const outlet = {
        place,
        write: (chunk: string | Uint8Array) => out.write(chunk),
        isClosed: () => out.closed,
        signal: stop.signal,
      };
      const asked = (crawler: Crawler): Promise<ExportSummary> => crawler.export(query, outlet);
      const summary = await (dryRun ? session.withDryRun(asked) : session.withSnapshot(asked))
        .catch((error: unknown) => {
          if (stop.signal.aborted) return null;
          throw error;
        })
        .finally(() => stop.release());
      if (summary === null) return EXIT.stopped;
      const { format, documents, removed, seq } = summary;
      const gone = from === undefined ? '' : `, ${count(removed)} removed`;
      const text = `${count(documents)} pages${gone}${summary.bytes === 0 ? '' : `, ${bytes(summary.bytes)}`}`;
      if ((place !== null || dryRun) && session.json) {
        const result = { format, file: place, bytes: summary.bytes, documents, removed, seq };
        await out.write(`${jsonOf(result, dryRun)}\n`);
      } else if (dryRun) await out.write(`${dryRunNotice(dryRun)}${text}\n`);
      else if (place !== null) session.note(text);
      return EXIT.done;
    }),
  );
}
