import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { listFormatOption } from '../../../query/input/option-values.ts';
import { SEGMENT_COLUMNS, SEGMENT_RECORD_COLUMNS } from '../../../render/columns.ts';
import { EXIT } from '../../../render/exit.ts';
import type { ListFormat } from '../../../render/listing.ts';
import { safeText } from '../../../render/safe-text.ts';
import { segmentRecordText } from '../../../render/text/segment-text.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer, writeList } from '../../program/write-answer.ts';

interface ReadsegFlags {
  readonly list?: true;
  readonly get?: string;
  readonly dump?: true;
  readonly screenshot?: string;
  readonly format?: Exclude<ListFormat, 'json'>;
}

export function addReadseg(program: Command, run: Run): void {
  const command = program
    .command('readseg')
    .argument(
      '[segment]',
      'for --get and --dump; default: for --get the newest that holds the URL, for --dump the newest',
    )
    .description('Read segments: what a round fetched and parsed. Needs no crawl db; --list is the default.')
    .option('--list', 'segments with their states and counts')
    .option('--get <url>', 'the stored record of one URL: outcome, response, parse output')
    .option('--dump', 'all records of a segment, without bodies')
    .option('--screenshot <file>', 'with --get: write the screenshot of the page (render.screenshot), PNG')
    .addOption(listFormatOption())
    .addHelpText('after', '\nExamples:\n  incrawl readseg --list\n  incrawl readseg --get https://example.org/ --json');
  command.action((segment: string | undefined, flags: ReadsegFlags) =>
    run(command, async (session) => {
      if ([flags.list, flags.get, flags.dump].filter((each) => each !== undefined).length > 1) {
        return session.refuse('--list, --get and --dump exclude each other');
      }
      if (flags.screenshot !== undefined && flags.get === undefined) {
        return session.refuse('--screenshot needs --get: the page whose screenshot is to be written');
      }
      const { format } = flags;
      return session.withSegments(async (crawler) => {
        if (flags.get !== undefined) {
          const record = await crawler.segmentRecord(flags.get, segment);
          await writeAnswer(session, record, () => (record === null ? '' : segmentRecordText(record)));
          if (flags.screenshot !== undefined) {
            const found = await crawler.screenshot(flags.get, segment);
            if (found !== null) await writeFile(flags.screenshot, found.png);
            else session.note(`No screenshot is stored of ${safeText(flags.get)}: see render.screenshot.`);
            return found === null ? EXIT.error : EXIT.done;
          }
          if (record === null) session.note(`Not in ${segment ?? 'any segment'}: ${safeText(flags.get)}`);
          return record === null ? EXIT.error : EXIT.done;
        }
        if (flags.dump) {
          const rows = crawler.segmentRecords(segment);
          await writeList(session, rows, SEGMENT_RECORD_COLUMNS, { format, empty: 'The segment is empty.' });
        } else {
          await writeList(session, await crawler.segments(), SEGMENT_COLUMNS, { format, empty: 'No segments yet.' });
        }
        return EXIT.done;
      }, flags.get);
    }),
  );
}
