import { CommanderError } from 'commander';
import { EXIT, exitCodeOf } from '../exit.ts';
import type { Surroundings } from '../session.ts';
import { programFor } from './program-for.ts';

/** Runs a command line. What it fails with is told, and decides the exit code that it resolves to. */
export async function runCommand(surroundings: Surroundings, tell: (error: unknown) => void): Promise<number> {
  const program = await programFor(surroundings);
  try {
    await program.command.parseAsync(surroundings.argv, { from: 'user' });
    return program.exitCode();
  } catch (error) {
    // Commander has told it.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    tell(error);
    return exitCodeOf(error);
  }
}
