import { CommanderError } from 'commander';
import { EXIT, exitCodeOf } from '../../render/exit.ts';
import { programFor } from '../commands/all-commands.ts';
import type { Surroundings } from '../surroundings.ts';

/** Runs a command line. Resolves with the exit code; an error is passed to `report` and determines that code. */
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
