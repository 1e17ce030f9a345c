/** Where, when and of what commit figures come about. */
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import type { Figure } from './results.ts';

export type Occasion = Pick<Figure, 'commit' | 'date' | 'machine'>;

/** @param root folder of the checkout that is measured */
export function occasionIn(root: string): Occasion {
  return {
    commit: execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim(),
    date: new Date().toISOString().slice(0, 10),
    machine: { cores: cpus().length, memory: Math.round(totalmem() / 2 ** 30), node: process.versions.node },
  };
}

/** Load average of the last minute in a word: from half a core on, a machine is busy. */
export const loadWord = (load: number): Figure['load'] => (load < 0.5 ? 'idle' : 'busy');
