import type { Surroundings } from '../session.ts';
import { type AddCommand, newProgram, type Program } from './program.ts';

/** Commands that are asked often and answer in a moment: they are not to wait until all others are loaded. */
const QUICK: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['changes', async () => (await import('../commands/ask/changes.ts')).addChanges],
  ['explain', async () => (await import('../commands/ask/explain.ts')).addExplain],
  ['skipped', async () => (await import('../commands/ask/skipped.ts')).addSkipped],
  ['readdb', async () => (await import('../commands/ask/readdb.ts')).addReaddb],
]);

/** The program with as many commands as the arguments ask for. */
export async function programFor(surroundings: Surroundings): Promise<Program> {
  const quick = QUICK.get(surroundings.argv[0] ?? '');
  if (quick === undefined) return (await import('../commands/all-commands.ts')).createProgram(surroundings);
  return newProgram(surroundings, [await quick()]);
}
