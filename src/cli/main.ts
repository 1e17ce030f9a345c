#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { CrawlError } from '../domain/errors.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { foreignFrame } from './process/foreign-frame.ts';
import { keepEngineLean } from './process/lean-engine.ts';
import { runCommand } from './program/run-command.ts';
import { errorText, messageOf } from './render/text/error-text.ts';

/** How long what was left open may keep the process alive after the work is done. */
const LINGER_MS = 3_000;
const OWN_FOLDER = fileURLToPath(new URL('../../..', import.meta.url));

keepEngineLean();
const { argv, env, stdout, stderr } = process;
/** Told already: what a command could not write rejects the command as well. */
const reported = new WeakSet<object>();
let lostOutput: number | null = null;
// A reader that went away (`| head`) must not end the process with a stack: what is written from then on is lost, no
// more.
stdout.on('error', tellLostOutput);
stderr.on('error', countLostOutput);
process.on('uncaughtException', endByStray);
process.on('unhandledRejection', endByStray);
process.on('beforeExit', endByStandstill);
process.on('exit', refuseEarlyExit);
let isThrough = false;
// Stands until `main` is through. Not a top-level await: Node ends with 13, our "forced stop", when one is never
// settled.
process.exitCode = EXIT.error;
void main().then((code) => {
  isThrough = true;
  process.exitCode = code === EXIT.done ? (lostOutput ?? code) : code;
  // Not at once: what is still being written to a pipe would be lost.
  setTimeout(() => process.exit(), LINGER_MS).unref();
});

function tellLostOutput(error: NodeJS.ErrnoException): void {
  countLostOutput(error);
  if (error.code !== 'EPIPE') tell(error);
}

function countLostOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  lostOutput ??= exitCodeOf(error);
  process.exitCode = lostOutput;
}

/**
 * What nobody waited for has failed, so no one can say what is missing now: the process ends, as by a kill, which the
 * state directory stands. Mostly it is a plugin that let a promise go; the file tells which.
 */
function endByStray(error: unknown): void {
  const file = error instanceof Error ? foreignFrame(error.stack ?? '', OWN_FOLDER) : null;
  if (file === null) tell(error);
  else {
    tell(
      new CrawlError('plugin-failed', `${file}: a failure that the plugin let go: ${messageOf(error)}`, {
        cause: error,
      }),
    );
  }
  end(EXIT.error);
}

/** Nothing is left to wait for, and yet the work is not done: something that was waited for can no longer come. */
function endByStandstill(): void {
  if (isThrough) return;
  tell(
    new CrawlError(
      'plugin-failed',
      'the work is not done, and nothing is left that could go on: a plugin never answers',
    ),
  );
  end(EXIT.error);
}

/** Without this, a plugin that calls `process.exit(0)` would make half of the work look done. */
function refuseEarlyExit(code: number): void {
  if (isThrough || code === EXIT.forced) return;
  tell(new CrawlError('plugin-failed', 'process.exit() was called before the work was done: plugins must not do that'));
  process.exitCode = EXIT.error;
}

function end(code: number): void {
  isThrough = true;
  process.exit(code);
}

async function main(): Promise<number> {
  return runCommand({ argv: argv.slice(2), env, stdin: () => process.stdin, stdout, stderr }, tell);
}

function tell(error: unknown): void {
  if (typeof error === 'object' && error !== null) {
    if (reported.has(error)) return;
    reported.add(error);
  }
  stderr.write(errorText(error, argv));
}
