import type { Command } from 'commander';
import type { MovedPartition, PartitionView, SplitPartition } from '../../../crawler/views.ts';
import { shortTime } from '../../../render/columns.ts';
import { bytes, counted } from '../../../render/quantities.ts';
import { ANY_LENGTH, type Column } from '../../../render/table.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import { DRY_RUN } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { writeList, writeSummary } from '../../program/write-answer.ts';

const COLUMNS: readonly Column<PartitionView>[] = [
  { title: 'partition', cell: (row) => row.partition },
  { title: 'size', cell: (row) => bytes(row.bytes) },
  { title: 'server', max: ANY_LENGTH, cell: (row) => row.server },
  { title: 'moving to', max: ANY_LENGTH, rank: 2, cell: (row) => row.movingTo ?? '' },
  { title: 'next try (UTC)', rank: 3, cell: ({ nextTryAt }) => (nextTryAt === null ? '' : shortTime(nextTryAt)) },
  { title: 'fault', max: ANY_LENGTH, cell: ({ fault }) => fault ?? '' },
];

export function addPartitions(program: Command, run: Run): void {
  const partitions = program
    .command('partitions')
    .description('The partitions of a shared crawl, and the PostgreSQL servers that they lie on.')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl partitions list\n  incrawl partitions move 003 postgres://crawler@10.0.0.8/crawl\n' +
        '  incrawl partitions split 003',
    );

  const list = partitions
    .command('list', { isDefault: true })
    .description('Each partition, its size, and the server that it lies on.')
    .addHelpText('after', '\nExample:\n  incrawl partitions list --json');
  list.action(() =>
    run(list, async (session) => {
      const { partitionViews } = await import('../../../cluster/servers/partition-operations.ts');
      await writeList(session, await partitionViews(await session.stateOptions({})), COLUMNS, {});
    }),
  );

  const move = partitions
    .command('move')
    .argument('<partition>', 'its number, such as 003')
    .argument('<url>', 'PostgreSQL that it is to lie on')
    .description(
      'Move a partition to another PostgreSQL, when the worker that holds it has ended its turn; workers go on with the ' +
        'others. After a kill, run it again.',
    )
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExample:\n  incrawl partitions move 003 postgres://crawler@10.0.0.8/crawl');
  move.action((partition: string, url: string, { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(move, async (session) => {
      const { movePartitionTo } = await import('../../../cluster/servers/partition-operations.ts');
      const options = await session.stateOptions({});
      const onStop = (): void => session.note(stopNote('what is being copied; the partition stays where it is'));
      const moved = await withStopSignal(session.surroundings, onStop, (signal) =>
        movePartitionTo(
          options,
          { partition, url },
          {
            ...{ signal, isDry: dryRun },
            onWait: ({ message }) => session.note(`Waiting up to 5 minutes: ${message}`),
          },
        ),
      );
      await writeSummary(session, moved, () => `${moveText(moved, dryRun)}\n`, dryRun);
    }),
  );
  addSplit(partitions, run);
}

function addSplit(partitions: Command, run: Run): void {
  const split = partitions
    .command('split')
    .argument('<partition>', 'its number, such as 003')
    .description(
      'Split a partition that has outgrown the rest: half of its hosts, or registrable domains, by their hash, go to a ' +
        'new one with the next number, with all that is known of them. It takes place between two rounds of the ' +
        'partition; workers go on with the others, and learn of it. After a kill, run it again.',
    )
    .option('--dry-run', DRY_RUN)
    .addHelpText('after', '\nExample:\n  incrawl partitions split 003 --dry-run');
  split.action((partition: string, { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(split, async (session) => {
      const { splitPartition } = await import('../../../care/transfer/split-partition.ts');
      const options = await session.stateOptions({});
      const onStop = (): void => session.note(stopNote('what is being copied; the partition stays whole'));
      const done = await withStopSignal(session.surroundings, onStop, (signal) =>
        splitPartition(options, partition, {
          ...{ signal, isDry: dryRun },
          onWait: ({ message }) => session.note(`Waiting up to 5 minutes: ${message}`),
        }),
      );
      await writeSummary(session, done, () => `${splitText(done, dryRun)}\n`, dryRun);
    }),
  );
}

function splitText({ partition, into, outcome, stays, leaves }: SplitPartition, isDry: boolean): string {
  if (outcome === 'finished')
    return `Partition ${partition} was split into ${partition} and ${into}: by an earlier call.`;
  const text = (half: SplitPartition['stays']): string =>
    half === null ? '' : ` (${counted(half.records, 'URL')} of ${counted(half.hosts, 'host')})`;
  const halves = `${partition}${text(stays)} and ${into}${text(leaves)}`;
  return isDry
    ? `Partition ${partition} would be split into ${halves}.`
    : `Partition ${partition} is split into ${halves}.`;
}

function moveText({ partition, from, to, outcome, rows, bytes: size }: MovedPartition, isDry: boolean): string {
  if (outcome === 'present') return `Partition ${partition} lies on ${to} already.`;
  if (isDry) return `Partition ${partition} (${bytes(size)}) would move from ${from} to ${to}.`;
  const copied = outcome === 'finished' ? 'an earlier move was finished' : `${counted(rows, 'row')} copied`;
  return `Partition ${partition} lies on ${to} now: ${copied}.`;
}
