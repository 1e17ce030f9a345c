import { Readable, Writable } from 'node:stream';
import type { StopRequests } from '../../src/cli/process/stop-signal.ts';
import { runCommand } from '../../src/cli/program/run-command.ts';
import type { Surroundings } from '../../src/cli/surroundings.ts';
import { errorText } from '../../src/render/text/error-text.ts';
import { afterThisFile } from './ends.ts';

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output and standard error as they came. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd?: string;
  /** What stdin gives; empty by default. */
  readonly input?: string | Readable;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Surroundings['clock'];
  /** Lets each piece of standard output pass: a reader that is slow. */
  readonly reader?: { pass(take: () => void): void };
  /** What a user would type to start the program in a folder. */
  readonly commandIn?: (folder: string) => string;
  /** Both streams go to one place. */
  readonly isOneOutput?: boolean;
  /** Both streams pass for a terminal of so many columns. */
  readonly columns?: number;
}

/** A command under way in this process. */
export interface Running {
  /** What a first SIGINT does. */
  stop(): void;
  /** Resolves with standard output as soon as it, or standard error, has this in it. */
  saying(pattern: RegExp): Promise<string>;
  readonly finished: Promise<Finished>;
}

/** A command that nothing stops. */
export const NO_STOPS: StopRequests = { listen: () => () => {}, endAtOnce: () => {} };

/** Runs a command line in this process, as the built program does: what that adds is in `start.ts` alone. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  const said = new Said();
  const stdout = said.stream('stdout', options.columns, options.reader);
  const stderr = said.stream('stderr', options.columns);
  let stops: (() => void)[] = [];
  const requests: StopRequests = {
    listen(listener) {
      stops.push(listener);
      return () => {
        stops = stops.filter((each) => each !== listener);
      };
    },
    endAtOnce: (code) => said.end(code),
  };
  const leave = enter(options.cwd);
  const env: Record<string, string | undefined> = { ...process.env, ...options.env };
  const surroundings: Surroundings = {
    argv: args,
    env,
    stdin: () => stdinOf(options.input ?? '') as NodeJS.ReadStream,
    stdout,
    stderr,
    stops: requests,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.isOneOutput === undefined ? {} : { isOneOutput: options.isOneOutput }),
    ...(options.commandIn === undefined ? {} : { commandIn: options.commandIn }),
  };
  void runCommand(surroundings, (error) => stderr.write(errorText(error, args)))
    .finally(leave)
    .then(said.end);
  const stop = (): void => {
    for (const each of stops) each();
  };
  // One that a failed test has left must not go on beside the next files.
  afterThisFile(() => {
    stop();
    return said.finished;
  });
  return {
    stop,
    saying: (pattern) => said.saying(pattern),
    finished: said.finished,
  };
}

export function run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return start(args, options).finished;
}

/** Rejects unless it ends with 0: for what only prepares a test. */
export async function prepare(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const finished = await run(args, options);
  if (finished.code === 0) return finished;
  throw new Error(`incrawl ${args.join(' ')} ended with ${finished.code}: ${finished.stderr}`);
}

/** Runs with `--json`, expects the exit code, gives back stdout parsed; the shape is a promise of the contract. */
export async function json<Shape = Readonly<Record<string, unknown>>>(
  args: readonly string[],
  { code: expected = 0, ...options }: RunOptions & { readonly code?: number } = {},
): Promise<Shape> {
  const { code, stdout, stderr } = await run([...args, '--json'], options);
  if (code === expected) return JSON.parse(stdout) as Shape;
  throw new Error(`incrawl ${args.join(' ')} ended with ${code}: ${stderr}\n${stdout}`);
}

const stdinOf = (input: string | Readable): Readable =>
  typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input;

/** What a command has written. */
class Said {
  readonly finished: Promise<Finished>;
  #resolve: (finished: Finished) => void = () => {};
  readonly #text = { stdout: '', stderr: '', output: '' };
  #waiting: (() => void)[] = [];
  #ended = false;

  constructor() {
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  stream(name: 'stdout' | 'stderr', columns: number | undefined, reader?: RunOptions['reader']): NodeJS.WriteStream {
    const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
      this.#text[name] += chunk;
      this.#text.output += chunk;
      for (const look of this.#waiting) look();
      if (reader === undefined) done();
      else reader.pass(done);
    };
    const terminal = columns === undefined ? {} : { isTTY: true, columns };
    return Object.assign(new Writable({ write }), terminal) as unknown as NodeJS.WriteStream;
  }

  readonly end = (code: number): void => {
    this.#ended = true;
    this.#resolve({ code, ...this.#text });
    for (const look of this.#waiting) look();
  };

  saying(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!pattern.test(this.#text.output)) {
          if (this.#ended) reject(new Error(`ended without ${pattern}: ${this.#text.output}`));
          return;
        }
        this.#waiting = this.#waiting.filter((each) => each !== look);
        resolve(this.#text.stdout);
      };
      this.#waiting.push(look);
      look();
    });
  }
}

/** The folder that commands under way are in: it is that of the whole process. */
let place: { readonly cwd: string; readonly home: string; count: number } | null = null;

function enter(cwd: string | undefined): () => void {
  if (place === null) {
    if (cwd === undefined) return () => {};
    place = { cwd, home: process.cwd(), count: 0 };
    process.chdir(cwd);
  } else if (cwd !== undefined && cwd !== place.cwd) {
    throw new Error(`a command under way is in ${place.cwd}: none can run in ${cwd} meanwhile`);
  }
  place.count++;
  return () => {
    if (place === null || --place.count > 0) return;
    process.chdir(place.home);
    place = null;
  };
}
