import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../program.ts';

/** Kinds of calls, in the order of their counters. `change` is every call that can change a file. */
const KINDS = [
  'open',
  'read',
  'write',
  'sync',
  'rename',
  'unlink',
  'mkdir',
  'connect',
  'accept',
  'spawn',
  'change',
] as const;
export type CallKind = (typeof KINDS)[number];

/** What happens in place of a call: an error by its name, a death before it, half a write and death, half a write. */
export type FaultAction = keyof typeof constants.errno | 'kill' | 'tear' | 'short';
const ACTIONS: Readonly<Record<string, number>> = { kill: -1, tear: -2, short: -3 };

export interface Fault {
  readonly kind: CallKind;
  /** The call that it happens in, counted from 1. */
  readonly at: number;
  readonly action: FaultAction;
}

export interface Calls {
  readonly counts: Readonly<Record<CallKind, number>>;
  readonly hasHappened: boolean;
}

export interface Preloaded {
  /** Environment of a program whose calls on files beneath the folder are counted, and one of them faulty. */
  environment(under: string, fault?: Fault): Record<string, string>;
  /** What the last program has called. */
  calls(): Calls;
}

/** Builds the library into the folder; the reason where this machine cannot. */
export function buildPreloaded(folder: string): Preloaded | string {
  if (process.platform !== 'linux') return `faults are injected on Linux alone, this is ${process.platform}`;
  const library = join(folder, 'faults.so');
  const source = join(ROOT, 'test/system/torture/faults/faults.c');
  const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { encoding: 'utf8' });
  if (built.error !== undefined) return `no C compiler (cc): ${built.error.message}`;
  if (built.status !== 0) return `faults.c could not be compiled: ${built.stderr}`;
  const counters = join(folder, 'calls');
  return {
    environment(under, fault) {
      writeFileSync(counters, new Uint8Array((KINDS.length + 1) * 8));
      return {
        LD_PRELOAD: library,
        INCRAWL_FAULT_COUNTS: counters,
        INCRAWL_FAULT_UNDER: under,
        ...(fault && { INCRAWL_FAULT: `${KINDS.indexOf(fault.kind)}:${fault.at}:${numberOf(fault.action)}` }),
      };
    },
    calls() {
      const bytes = readFileSync(counters);
      const at = (i: number): number => Number(bytes.readBigUInt64LE(8 * i));
      const counts = Object.fromEntries(KINDS.map((kind, i) => [kind, at(i)])) as Record<CallKind, number>;
      return { counts, hasHappened: at(KINDS.length) > 0 };
    },
  };
}

function numberOf(action: FaultAction): number {
  return ACTIONS[action] ?? constants.errno[action as keyof typeof constants.errno];
}
