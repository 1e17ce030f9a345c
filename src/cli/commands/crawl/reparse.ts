import type { Command } from 'commander';
import type { Crawler, ReparseQuery } from '../../../crawler/index.ts';
import type { ReparseSummary } from '../../../crawler/views.ts';
import { type FeedStart, feedStart, hostName, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { reparseText } from '../../../render/text/reparse-text.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import { withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

interface ReparseFlags {
  readonly since?: FeedStart;
  readonly host?: string;
  readonly where?: string;
  readonly examples?: number;
  readonly dryRun?: true;
}

export function addReparse(program: Command, run: Run): void {
  const command = program
    .command('reparse')
    .description(
      'Parse the stored pages anew by the present plugins and options, and bring what differs to their records: ' +
        'fields, links, signatures, duplicates, exports. Nothing is requested, and no visit is counted.',
    )
    .option(
      '--since <when>',
      'only pages that changed since then: a time, an age (2h, 3d), or a number of the change feed',
      feedStart,
    )
    .option('--host <host>', 'only pages of this host (host or host:port)', hostName)
    .option('--where <expr>', 'only pages whose record matches, such as "depth > 3 and title ~ login"')
    .option('--examples <n>', 'pages to describe; default: 10', wholeNumber(0))
    .option('--dry-run', 'only say what would differ; nothing is changed')
    .addHelpText(
      'after',
      `
Examples:
  incrawl reparse --dry-run
  incrawl reparse --host www.example.org --examples 3
  incrawl reparse --where "metadata.topic = null and contentType ~ html" --json

"incrawl help query" names the fields and operators of --where.`,
    );
  command.action((flags: ReparseFlags) =>
    run(command, (session) =>
      withStopSignal(
        session.surroundings,
        () => session.note(stopNote('the current batch')),
        (signal) => reparse(session, flags, signal),
      ),
    ),
  );
}

async function reparse(session: Session, flags: ReparseFlags, signal: AbortSignal): Promise<number> {
  const { since: from, dryRun = false, ...rest } = flags;
  const since = from === undefined ? {} : { since: 'after' in from ? from : { at: from.notedFrom } };
  const query: ReparseQuery = { ...rest, ...since, dryRun };
  const summary = await withCrawlerOrCopy(session, dryRun, (crawler: Crawler) => crawler.reparse(query, { signal }));
  await writeSummary(session, summary, () => reparseText(summary), dryRun);
  return exitCodeOf(summary);
}

/** It has achieved nothing where no page was parsed. */
function exitCodeOf({ isCutShort, parsed }: ReparseSummary): number {
  if (isCutShort) return EXIT.stopped;
  return parsed === 0 ? EXIT.error : EXIT.done;
}
