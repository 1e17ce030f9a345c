import { join } from 'node:path';
import type { MadeStates } from './made-states.ts';
import { NETWORK } from './made-states.ts';

/** Where one attempt works: everything that it writes lies beneath `folder`. */
export interface Places {
  readonly folder: string;
  /** State directory. */
  readonly dir: string;
  /** What the command makes beside it. */
  readonly out: string;
  readonly made: MadeStates;
  /** URL of an empty database, for `work`. */
  readonly store: string;
}

/** A command that writes. Run again after it was interrupted, it must come to the end that it comes to at once. */
export interface Task {
  readonly name: string;
  /** What is copied to the state directory before; absent: nothing is there. */
  readonly from?: Exclude<keyof MadeStates, 'origin' | 'segment' | 'backup' | 'lines' | 'seeds'>;
  readonly args: (places: Places) => readonly string[];
  /** Where what was begun has to go before it is run again: folders that must be new, or empty. */
  readonly leaves?: (places: Places) => string;
  /** State directories that count at the end; default: that of the attempt. */
  readonly states?: (places: Places) => readonly (readonly string[])[];
  /** It begins with nothing: where it has come to its end before the disturbance, it refuses to be run again. */
  readonly refusesToRepeat?: boolean;
  /** The state directory is damaged until the command has ended. */
  readonly isDamaged?: boolean;
  /** Its records lie in the database. */
  readonly isShared?: boolean;
}

const dir = (places: Places): string[] => ['--dir', places.dir];
const store = (places: Places): string[] =>
  Object.entries({ store: places.store, lease: '1s', partitions: '1' }).flatMap(([key, value]) => [
    '-D',
    `cluster.${key}=${value}`,
  ]);

export const TASKS: readonly Task[] = [
  { name: 'crawl', from: 'due', args: (at) => ['crawl', ...dir(at), ...NETWORK] },
  { name: 'schedule', from: 'due', args: (at) => ['schedule', '--once', ...dir(at), ...NETWORK] },
  { name: 'inject', from: 'crawled', args: (at) => ['inject', at.made.seeds, ...dir(at)] },
  { name: 'updatedb', from: 'parsed', args: (at) => ['updatedb', at.made.segment, ...dir(at)] },
  { name: 'reparse', from: 'twice', args: (at) => ['reparse', ...dir(at), '-D', 'parse.signature=digest'] },
  { name: 'dedup', from: 'twice', args: (at) => ['dedup', '--distance', '1', ...dir(at)] },
  { name: 'families', from: 'twice', args: (at) => ['duplicates', 'families', '--apply', ...dir(at)] },
  { name: 'prune', from: 'twice', args: (at) => ['state', 'prune', '--keep-days', '0', '--compact', ...dir(at)] },
  { name: 'merge', from: 'crawled', args: (at) => ['db', 'merge', at.made.other, ...dir(at)] },
  { name: 'import', args: (at) => ['db', 'import', at.made.lines, ...dir(at)], refusesToRepeat: true },
  { name: 'import --merge', from: 'crawled', args: (at) => ['db', 'import', '--merge', at.made.lines, ...dir(at)] },
  { name: 'repair', from: 'damaged', args: (at) => ['state', 'repair', ...dir(at)], isDamaged: true },
  { name: 'restore', args: (at) => ['state', 'restore', at.made.backup, ...dir(at)], refusesToRepeat: true },
  { name: 'export', from: 'twice', args: (at) => ['export', '--output', `${at.out}.jsonl`, ...dir(at)] },
  {
    name: 'export tree',
    from: 'twice',
    args: (at) => ['export', '--format', 'tree', '--output', at.out, ...dir(at)],
  },
  { name: 'backup', from: 'twice', args: (at) => ['state', 'backup', at.out, ...dir(at)], leaves: (at) => at.out },
  {
    name: 'repartition',
    from: 'twice',
    args: (at) => ['db', 'repartition', '--nodes', 'north,south', '--out', at.out, ...dir(at)],
    leaves: (at) => at.out,
    states: (at) => ['north', 'south'].map((node) => ['--dir', join(at.out, node)]),
  },
  {
    name: 'work',
    args: (at) => ['work', `${at.made.origin}/`, ...dir(at), ...NETWORK, ...store(at)],
    states: (at) => [[...dir(at), ...store(at)]],
    isShared: true,
  },
];
