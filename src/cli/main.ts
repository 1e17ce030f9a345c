#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EXIT, exitCodeOf, isForeseen } from './exit.ts';
import { keepEngineLean } from './lean-engine.ts';
import { programFor } from './program-for.ts';
import { safeLines, shortLines } from './render/safe-text.ts';

/** How long what was left open may keep the process alive after the work is done. */
const LINGER_MS = 3_000;

keepEngineLean();
const { argv, env, stdout, stderr } = process;
// A reader that went away (`| head`) must not end the process with a stack: what is written from then on is lost, no more.
stdout.on('error', ignoreGoneReader);
stderr.on('error', ignoreGoneReader);
// Stands until `main` is through. Not a top-level await: Node ends with 13, our "forced stop", when one is never settled.
process.exitCode = EXIT.error;
void main().then((code) => {
  process.exitCode = code;
  // Not at once: what is still being written to a pipe would be lost.
  setTimeout(() => process.exit(), LINGER_MS).unref();
});

function ignoreGoneReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') process.exitCode = EXIT.error;
}

async function main(): Promise<number> {
  const program = await programFor({ argv: argv.slice(2), env, stdin: () => process.stdin, stdout, stderr });
  try {
    await program.command.parseAsync(argv);
    return program.exitCode();
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    tell(error);
    return exitCodeOf(error);
  }
}

function tell(error: unknown): void {
  const verbose = argv.includes('--verbose') || argv.includes('-v');
  const message = error instanceof Error ? error.message : String(error);
  const lines = shortLines(safeLines(message)).split('\n');
  const text = lines.length === 1 ? ` ${lines[0]}` : `\n${lines.map((line) => `  ${line}`).join('\n')}`;
  stderr.write(`incrawl:${text}\n`);
  if (isForeseen(error) && error.code === 'db-corrupt' && !message.includes('incrawl repair')) {
    stderr.write(
      '"incrawl verify" tells what is damaged, "incrawl repair" mends what can be mended and keeps the rest.\n',
    );
  }
  if (isForeseen(error) && !verbose) return;
  if (verbose && error instanceof Error) stderr.write(`${safeLines(error.stack ?? '')}\n`);
  else stderr.write('This is a fault of incrawl; --verbose shows where it happened.\n');
}
