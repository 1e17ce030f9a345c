import { tmpdir } from 'node:os';
import { Argument, type Command, Option } from 'commander';
import type { BatchExport, SignatureRequest } from '../../../crawler/views.ts';
import { scopeOption, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { bytes, counted } from '../../../render/quantities.ts';
import { linesOf, linesOfBatchFile } from '../../input/seed-sources.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

/** Names of the jobs; their code is loaded when one runs. */
const JOBS = ['dedup', 'dedup-incoming', 'linkclusters'] as const;
type Job = (typeof JOBS)[number];

/** Lines of a file of the export; one of signatures then takes some 25 MB. */
const SHARD_LINES = 1_000_000;

export function addMr(program: Command, run: Run): void {
  const command = program
    .command('mr')
    .description('Jobs for Hadoop Streaming: their input from the crawl, and their map and reduce steps.')
    .addHelpText('after', '\nExamples:\n  incrawl mr export signatures -o signatures');
  addMap(command, run);
  addReduce(command, run);
  addExportInput(command, run);
}

function addMap(mr: Command, run: Run): void {
  const command = mr
    .command('map')
    .description('Map step of a job, on stdin and stdout: lines of key, tab, value.')
    .addArgument(new Argument('<job>', 'name of the job').choices([...JOBS]))
    .option('--query <file>', 'query set of dedup-incoming, gzip or not: each line of stdin is compared with all of it')
    .addHelpText(
      'after',
      '\nExamples:\n  zcat links/*.gz | incrawl mr map linkclusters | LC_ALL=C sort | incrawl mr reduce linkclusters',
    );
  command.action((job: Job, { query }: { readonly query?: string }) =>
    run(
      command,
      (session) => {
        const needsQuery = job === 'dedup-incoming';
        if (needsQuery && query === undefined) return session.refuse('dedup-incoming needs --query FILE');
        if (!needsQuery && query !== undefined) return session.refuse(`${job} takes no --query`);
        return step(session, 'map', job, query);
      },
      'when-asked',
    ),
  );
}

function addReduce(mr: Command, run: Run): void {
  const command = mr
    .command('reduce')
    .description(
      'Reduce step of a job, on stdin and stdout. The lines of a key must be adjacent; their order does not matter.',
    )
    .addArgument(new Argument('<job>', 'name of the job').choices([...JOBS]))
    .addHelpText('after', '\nExamples:\n  LC_ALL=C sort mapped.tsv | incrawl mr reduce dedup > pairs.tsv');
  command.action((job: Job) => run(command, (session) => step(session, 'reduce', job), 'when-asked'));
}

async function step(session: Session, half: 'map' | 'reduce', job: Job, query?: string): Promise<number> {
  const { streamingStep } = await import('../../../published/map-reduce/jobs.ts');
  const lines = linesOf(session.surroundings.stdin());
  const side = query === undefined ? {} : { query: linesOfBatchFile(query) };
  for await (const line of streamingStep({ job, half, lines, ...side, dir: tmpdir() })) {
    await session.out.write(`${line}\n`);
  }
  return EXIT.done;
}

interface ExportFlags extends SignatureRequest {
  readonly output: string;
  readonly shardLines: number;
}

function addExportInput(mr: Command, run: Run): void {
  const command = mr
    .command('export')
    .description('Write the input of a job into a folder of gzip files. A crawl may run meanwhile.')
    .addArgument(
      new Argument('<input>', 'signatures, for dedup and dedup-incoming; links, for linkclusters').choices([
        'signatures',
        'links',
      ]),
    )
    .requiredOption('-o, --output <folder>', 'a new or empty folder; it appears when it is complete')
    .option('--shard-lines <n>', 'lines of a file; Hadoop gives each file to one mapper', wholeNumber(1), SHARD_LINES)
    .addOption(scopeOption())
    .option('--min-chars <n>', 'leave out pages with less text; default: dedup.minChars', wholeNumber(0))
    .addOption(
      new Option(
        '--incoming <segment>',
        'write the pages of this segment into _query.tsv.gz too, the query set of dedup-incoming',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  incrawl mr export signatures -o signatures
  incrawl mr export links -o links --shard-lines 10000000`,
    );
  command.action((input: 'signatures' | 'links', { output: place, shardLines, ...request }: ExportFlags) =>
    run(command, async (session) => {
      const folder = { place, shardLines };
      if (input === 'links') {
        if (Object.keys(request).length > 0) {
          session.refuse('--scope, --min-chars and --incoming are for signatures; links are exported whole');
        }
        await answer(session, await session.withSegments((crawler) => crawler.exportLinks(folder)));
      } else {
        await answer(session, await session.withSnapshot((crawler) => crawler.exportSignatures(folder, request)));
      }
    }),
  );
}

async function answer(session: Session, summary: BatchExport): Promise<void> {
  const { kind, folder, files, lines, query, short = 0 } = summary;
  const parts = [`${counted(lines, kind === 'links' ? 'link' : 'page')} in ${counted(files, 'file')} of ${folder}`];
  if (query !== undefined) parts.push(`${counted(query, 'page')} in the query set`);
  if (short > 0) parts.push(`${counted(short, 'page')} with too little text left out`);
  await writeSummary(session, summary, () => `${parts.join('; ')}; ${bytes(summary.bytes)}.\n`);
}
