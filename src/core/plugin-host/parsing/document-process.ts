import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Log } from '../../ports/log.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import type { FromDocumentChild, ToDocumentChild } from './document-child.ts';
import type { ParsingOptions } from './load-parsing.ts';
import { compiledWorker, NotStarted, ParserThreads, type SentPages, type StartableThread } from './parser-threads.ts';

/** A page whose parser limits the memory of the process that parses it. */
export interface DocumentToParse extends PageToParse {
  /** Anonymous memory of the process, bytes. */
  readonly maxMemory: number;
}

interface DocumentProcessOptions {
  /** As of a `ParserThread`. */
  readonly filename: string;
  readonly parsing: ParsingOptions;
  readonly log: Pick<Log, 'warn'>;
}

/** The start costs some 0.5 s of CPU, and the pauses between requests to a host are several seconds. */
const IDLE_MS = 30_000;
/** Share of its limit above which a process is not used again: freed memory is not all given back to the system. */
const KEPT_SHARE = 0.6;
const MIB = 1 << 20;

/**
 * A process that parses documents, one at a time. Only a process can be bounded: V8 counts neither byte arrays nor what
 * libraries allocate, and ends the whole process where it cannot allocate a large table. This one ends itself when it
 * takes more than the parser of its document allows; then that document fails, and the next one gets a new process.
 */
class DocumentProcess<Answer> implements StartableThread<Answer> {
  private readonly options: DocumentProcessOptions;
  private child: Child | null = null;
  private idle: NodeJS.Timeout | undefined;
  private batch = 0;

  constructor(options: DocumentProcessOptions) {
    this.options = options;
  }

  get hasStarted(): boolean {
    return this.child?.hasBegun === true;
  }

  async parse({ pages, signal, onBegin }: SentPages): Promise<Answer[]> {
    clearTimeout(this.idle);
    const child = this.child ?? new Child(this.options);
    this.child = child;
    const maxMemory = Math.max(...(pages as readonly DocumentToParse[]).map((page) => page.maxMemory));
    const stop = (): void => child.kill();
    signal.addEventListener('abort', stop);
    try {
      const { answers, usedMemory } = await child.run({ batch: ++this.batch, pages, maxMemory }, onBegin);
      if (usedMemory > KEPT_SHARE * maxMemory) this.end(child);
      else this.endWhenIdle(child);
      return answers as Answer[];
    } catch (error) {
      this.end(child);
      throw signal.aborted ? new Error('the process was ended', { cause: error }) : error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    this.forget(child);
    await child.end();
  }

  private endWhenIdle(child: Child): void {
    this.idle = setTimeout(() => this.end(child), IDLE_MS);
    this.idle.unref();
  }

  private end(child: Child): void {
    this.forget(child);
    child.kill();
  }

  private forget(child: Child): void {
    clearTimeout(this.idle);
    if (this.child === child) this.child = null;
  }
}

interface DocumentThreadsOptions extends DocumentProcessOptions {
  /** As of {@link ParserThreads}. */
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** One process, however many threads parse pages: its memory is bounded, and those of several would add up. */
export const createDocumentThreads = <Answer>({
  timeoutMs,
  now,
  ...options
}: DocumentThreadsOptions): ParserThreads<Answer> =>
  new ParserThreads({ threads: [new DocumentProcess(options)], timeoutMs, now, log: options.log });

interface Run {
  readonly maxMemory: number;
  readonly onBegin: () => void;
  readonly resolve: (answer: { readonly answers: readonly unknown[]; readonly usedMemory: number }) => void;
  readonly reject: (error: Error) => void;
}

/** One process, from its start to its end. */
class Child {
  /** It has begun with a batch. */
  hasBegun = false;
  /** Resolves when the process has ended, and all that it sent has been read. */
  private readonly ended: Promise<void>;
  private readonly process: ChildProcess;
  private running: Run | null = null;
  private excess = 0;

  constructor({ filename, parsing, log }: DocumentProcessOptions) {
    this.process = fork(compiledWorker('parsing/document-child.js'), [], {
      serialization: 'advanced',
      execArgv: inheritedOptions(process.execArgv),
      env: childEnvironment(process.env),
      // V8 writes there what it was doing when it ran out of memory.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.process.on('message', (message: FromDocumentChild) => this.take(message, log));
    this.ended = this.watchEnd();
    this.send({ filename, parsing });
  }

  run(
    batch: { readonly batch: number; readonly pages: SentPages['pages']; readonly maxMemory: number },
    onBegin: () => void,
  ): Promise<{ readonly answers: readonly unknown[]; readonly usedMemory: number }> {
    this.setReferenced(true);
    return new Promise((resolve, reject) => {
      this.running = { maxMemory: batch.maxMemory, onBegin, resolve, reject };
      this.send(batch);
    });
  }

  /** It has nothing to lose. */
  kill(): void {
    this.process.kill('SIGKILL');
  }

  async end(): Promise<void> {
    this.setReferenced(true);
    this.kill();
    await this.ended;
  }

  private send(message: ToDocumentChild): void {
    // A process that is gone says so by its end.
    this.process.send(message, () => {});
  }

  private take(message: FromDocumentChild, log: Pick<Log, 'warn'>): void {
    if ('said' in message) log.warn(message.said);
    else if ('excess' in message) this.excess = message.excess;
    else if ('begun' in message) {
      this.hasBegun = true;
      this.running?.onBegin();
    } else {
      const run = this.running;
      this.running = null;
      this.setReferenced(false);
      if ('fault' in message) run?.reject(new Error(message.fault));
      else run?.resolve(message);
    }
  }

  private async watchEnd(): Promise<void> {
    const [how] = await Promise.all([
      once(this.process, 'exit').then(([code, signal]) => String(signal ?? `code ${code}`)),
      // After it, nothing more comes.
      once(this.process, 'disconnect'),
    ]).catch((error: Error) => [error] as const);
    const fault = how instanceof Error ? how : this.endFault(how);
    this.running?.reject(fault);
    this.running = null;
  }

  private endFault(how: string): Error {
    const limit = this.running?.maxMemory ?? 0;
    if (this.excess > 0) {
      const [took, may] = [this.excess, limit].map((bytes) => Math.ceil(bytes / MIB));
      return new Error(`parsing took ${took} MiB of memory, more than the ${may} MiB that the parser allows`);
    }
    const what = `the process that parses documents ended (${how})`;
    return this.hasBegun ? new Error(`${what}; it may have run out of memory`) : new NotStarted(what);
  }

  /** A process that waits for a document keeps no program alive. */
  private setReferenced(isBusy: boolean): void {
    const { channel } = this.process;
    if (isBusy) {
      this.process.ref();
      channel?.ref();
    } else {
      this.process.unref();
      channel?.unref();
    }
  }
}

/** Options of Node that name what a process runs, and those that only one process can have. */
const OWN_OPTION =
  /^(?:-[cehipv]+|--(?:eval|print|check|interactive|input-type|inspect|debug-port|test|watch|run|cpu-prof|heap-prof|prof))/;
const WITH_VALUE = /^(?:-p?e|-p|--eval|--print|--input-type)$/;

/** What a process for documents has of the options of this one, such as hooks and permissions. */
export function inheritedOptions(options: readonly string[]): string[] {
  return options.filter(
    (option, i) => !OWN_OPTION.test(option) && !(i > 0 && WITH_VALUE.test(options[i - 1] as string)),
  );
}

/** A second process cannot listen for a debugger at the same port. */
function childEnvironment({ NODE_OPTIONS, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const options = NODE_OPTIONS?.replaceAll(/--(?:inspect|debug-port)\S*/g, '').trim();
  return options ? { ...env, NODE_OPTIONS: options } : env;
}
