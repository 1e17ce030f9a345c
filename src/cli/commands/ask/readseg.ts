import { type Command, Option } from 'commander';
import { EXIT } from '../../exit.ts';
import type { Run } from '../../program/program.ts';
import { SEGMENT_COLUMNS, SEGMENT_RECORD_COLUMNS } from '../../render/columns.ts';
import { type ListFormat, writeListing } from '../../render/listing.ts';
import { safeText } from '../../render/safe-text.ts';
import { segmentRecordText } from '../../render/text/segment-text.ts';

interface ReadsegFlags {
  readonly list?: true;
  readonly get?: string;
  readonly dump?: true;
  readonly format?: Exclude<ListFormat, 'json'>;
}

export function addReadseg(program: Command, run: Run): void {
  const command = program
    .command('readseg')
    .argument(
      '[segment]',
      'for --get and --dump; default: for --get the newest that has the URL, for --dump the newest',
    )
    .description(
      'Look into segments: what a round fetched and parsed. Needs no crawl db. --list when nothing is asked.',
    )
    .option('--list', 'segments with their states and counts')
    .option('--get <url>', 'what was stored of one URL: outcome, response, parse output')
    .option('--dump', 'all records of a segment, without bodies')
    .addOption(
      new Option('--format <format>', 'of lists; --json prints one JSON array').choices(['table', 'jsonl', 'csv']),
    )
    .addHelpText('after', '\nExamples:\n  incrawl readseg --list\n  incrawl readseg --get https://example.org/ --json');
  command.action((segment: string | undefined, flags: ReadsegFlags) =>
    run(command, async (session) => {
      if ([flags.list, flags.get, flags.dump].filter((each) => each !== undefined).length > 1) {
        return session.refuse('--list, --get and --dump are three questions: ask one');
      }
      const { out, bold } = session;
      const format = flags.format ?? (session.json ? 'json' : 'table');
      return session.withSegments(async (crawler) => {
        if (flags.get !== undefined) {
          const record = await crawler.segmentRecord(flags.get, segment);
          if (session.json) await out.write(`${JSON.stringify(record)}\n`);
          else if (record !== null) await out.write(segmentRecordText(record));
          if (record === null) session.note(`Not in ${segment ?? 'any segment'}: ${safeText(flags.get)}`);
          return record === null ? EXIT.error : EXIT.done;
        }
        const written = flags.dump
          ? await writeListing(out, crawler.segmentRecords(segment), { format, bold, columns: SEGMENT_RECORD_COLUMNS })
          : await writeListing(out, await crawler.segments(), { format, bold, columns: SEGMENT_COLUMNS });
        if (written === 0 && format === 'table')
          session.note(flags.dump ? 'The segment is empty.' : 'No segments yet.');
        return EXIT.done;
      });
    }),
  );
}
