import { fstatSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CrawlError } from '../core/domain/errors.ts';
import { EXIT, exitCodeOf } from '../render/exit.ts';
import { errorText, messageOf } from '../render/text/error-text.ts';
import { foreignFrame } from './process/foreign-frame.ts';
import { keepEngineLean } from './process/lean-engine.ts';
import { ownCommand } from './process/own-command.ts';
import { processStops } from './process/stop-signal.ts';
import { runCommand } from './program/run-command.ts';

/** Open handles may keep the process alive this long after the work is done. */
const LINGER_MS = 3_000;
const OWN_FOLDER = fileURLToPath(new URL('../../..', import.meta.url));

keepEngineLean();
const { argv, env, stdout, stderr } = process;
/** Errors that are already printed: a failed write of stdout also rejects the command. */
const reported = new WeakSet<object>();
let lostOutput: number | null = null;
// A reader that closes the pipe (`| head`) must not end the process with a stack trace: only later output is lost.
stdout.on('error', reportLostOutput);
stderr.on('error', noteLostOutput);
process.on('uncaughtException', endByStrayError);
process.on('unhandledRejection', endByStrayError);
process.on('beforeExit', endByStandstill);
process.on('exit', refuseEarlyExit);
let isDone = false;
// Holds until `main` settles. Not a top-level await: Node ends with 13, our "forced stop", when that never settles.
process.exitCode = EXIT.error;
void main().then((code) => {
  isDone = true;
  process.exitCode = code === EXIT.done ? (lostOutput ?? code) : code;
  // Not immediately: output in the buffer of a pipe would be lost.
  setTimeout(() => process.exit(), LINGER_MS).unref();
});

function reportLostOutput(error: NodeJS.ErrnoException): void {
  noteLostOutput(error);
  if (error.code !== 'EPIPE') report(error);
}

function noteLostOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  lostOutput ??= exitCodeOf(error);
  process.exitCode = lostOutput;
}

/**
 * An error that no code handled: the state of the process is unknown, so it ends. The state directory survives this as
 * it survives a kill. The usual cause is a promise that a plugin did not await; the stack names its file.
 */
function endByStrayError(error: unknown): void {
  const file = error instanceof Error ? foreignFrame(error.stack ?? '', OWN_FOLDER) : null;
  const message = `${file}: an error that the plugin did not handle: ${messageOf(error)}`;
  report(file === null ? error : new CrawlError('plugin-failed', message, { cause: error }));
  end(EXIT.error);
}

/** The event loop is empty before the work is done: a promise that the work awaits can never settle. */
function endByStandstill(): void {
  if (isDone) return;
  report(new CrawlError('plugin-failed', 'the work stands still before its end: a promise of a plugin never settles'));
  end(EXIT.error);
}

/** Without this, a plugin that calls `process.exit(0)` would make half of the work look done. */
function refuseEarlyExit(code: number): void {
  if (isDone || code === EXIT.forced) return;
  report(
    new CrawlError('plugin-failed', 'process.exit() was called before the work was done: plugins must not call it'),
  );
  process.exitCode = EXIT.error;
}

function end(code: number): void {
  isDone = true;
  process.exit(code);
}

async function main(): Promise<number> {
  return runCommand(
    {
      argv: argv.slice(2),
      env,
      stdin: () => process.stdin,
      stdout,
      stderr,
      stops: processStops,
      isOneOutput: isOneOutput(),
      commandIn,
    },
    report,
  );
}

function isOneOutput(): boolean {
  try {
    const [out, err] = [fstatSync(1), fstatSync(2)];
    return out.dev === err.dev && out.ino === err.ino;
  } catch {
    return false;
  }
}

function commandIn(folder: string): string {
  return ownCommand(argv[1] ?? '', folder, env.PATH ?? '');
}

function report(error: unknown): void {
  if (typeof error === 'object' && error !== null) {
    if (reported.has(error)) return;
    reported.add(error);
  }
  stderr.write(errorText(error, argv, commandIn(process.cwd())));
}
