import { CommanderError } from 'commander';
import { EXIT, exitCodeOf } from '../../render/exit.ts';
import type { Surroundings } from '../surroundings.ts';
import { type AddCommand, newProgram, type Program } from './program.ts';

/** Runs a command line. Resolves with the exit code; an error is handed to `report` and decides that code. */
export async function runCommand(surroundings: Surroundings, report: (error: unknown) => void): Promise<number> {
  const program = await programFor(surroundings);
  try {
    await program.command.parseAsync(surroundings.argv, { from: 'user' });
    return program.exitCode();
  } catch (error) {
    // Commander has printed it.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    report(error);
    return exitCodeOf(error);
  }
}

/** Commands that answer in milliseconds: they are loaded alone, since loading all takes longer than their answer. */
const QUICK: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['changes', async () => (await import('../commands/ask/changes.ts')).addChanges],
  ['explain', async () => (await import('../commands/ask/explain.ts')).addExplain],
  ['skipped', async () => (await import('../commands/ask/skipped.ts')).addSkipped],
  ['readdb', async () => (await import('../commands/ask/readdb.ts')).addReaddb],
]);

/** The program with the commands that the arguments need. */
async function programFor(surroundings: Surroundings): Promise<Program> {
  const quick = QUICK.get(surroundings.argv[0] ?? '');
  if (quick === undefined) return (await import('../commands/all-commands.ts')).createProgram(surroundings);
  return newProgram(surroundings, [await quick()]);
}
