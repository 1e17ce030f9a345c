// cli/: the command line: arguments, output and exit codes.

import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { LoadedConfig } from '../core/config/load.ts';
import type { Override } from '../core/config/override.ts';
import type { Config } from '../core/config/schema.ts';
import type { Checker, Crawler, CrawlerOptions, OnWork } from '../crawler/index.ts';
import type { Worker } from '../crawler/views.ts';
import { isSpread } from '../operations/state/cluster-mark.ts';
import { settingOverrides } from '../query/input/option-values.ts';
import type { CrawlReader } from '../query/questions.ts';
import { sleepUntil } from '../remote/schedule/sleep-until.ts';
import { type Live, NO_LIVE } from '../render/live/no-live.ts';
import { slowWork } from '../render/live/slow-work.ts';
import type { ClosableLog, Log, LogLevel } from '../render/log.ts';
import { type Color, createOutput, type Output } from '../render/output.ts';
import { shortLines } from '../render/safe-text.ts';
import type { Surroundings } from './surroundings.ts';

/** Options that every command has. */
export interface CommonOptions {
  readonly config?: string;
  readonly dir: string;
  readonly json?: true;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly define?: readonly string[];
}

export interface DryRunOpening {
  /** Refuses a directory that holds no crawl. */
  readonly mustExist?: boolean;
  /** Segments that will be written to although they have been applied. */
  readonly written?: readonly string[];
}

/** Everything a command works with. Created once for each run; resources open at their first use. */
export interface Session {
  readonly options: CommonOptions;
  readonly surroundings: Surroundings;
  readonly loaded: LoadedConfig;
  readonly config: Config;
  readonly json: boolean;
  readonly out: Output;
  readonly live: Live;
  /** Bold for headings, when stdout is a terminal that wants colours. */
  bold(text: string): string;
  /** A colour, under the same conditions. */
  readonly color: Color;
  /** Columns of the terminal that stdout goes to; a pipe or a file has no limit. */
  readonly width: number;
  /** Whether output can be redrawn in place: on a terminal, but not on a dumb one. */
  canDraw(stream: NodeJS.WriteStream): boolean;
  /** One line for people on stderr; nothing under `--quiet`. */
  note(text: string): void;
  /** The same for an error that ends work early; printed even under `--quiet`. */
  complain(text: string): void;
  log(): Promise<Log>;
  /** Milliseconds since the epoch, by the clock of the crawl. */
  now(): number;
  /** Like `sleepUntil`, by the clock of the crawl. */
  sleepUntil(at: number, signal: AbortSignal): Promise<void>;
  /** Shows long work on a terminal. */
  readonly onWork: OnWork;
  /** Shows the progress of a crawl from now on. */
  showProgress(): Promise<void>;
  /**
   * Opens the state directory while `use` runs, and answers questions of other processes meanwhile.
   * @param opening `mustExist`: refuses a directory that holds no crawl
   */
  withCrawler<Value>(
    use: (crawler: Crawler) => Promise<Value>,
    opening?: { readonly mustExist: boolean },
  ): Promise<Value>;
  /**
   * Opens only the segments: the crawl db is not held, and another process may be using it.
   * @param page the only URL that is queried: in a spread crawl, the segments of its partition are opened
   */
  withSegments<Value>(use: (crawler: Crawler) => Promise<Value>, page?: string): Promise<Value>;
  /** Opens a copy of the state, which is deleted afterwards together with the changes made by `use`. */
  withDryRun<Value>(use: (crawler: Crawler) => Promise<Value>, opening?: DryRunOpening): Promise<Value>;
  /** For long reads: the crawl db as of now, and the segments. Another process may be at work. */
  withSnapshot<Value>(use: (crawler: Crawler) => Promise<Value>): Promise<Value>;
  /** Joins a crawl that several processes share, while `use` runs. */
  withWorker<Value>(use: (worker: Worker) => Promise<Value>): Promise<Value>;
  /**
   * For questions: if another process holds the crawl db, that process answers. `use` may run again until the first
   * part of an answer has arrived.
   * @param opening `withIndexes`: for the questions `seen` and `near`
   */
  withReader<Value>(
    use: (reader: CrawlReader) => Promise<Value>,
    opening?: { readonly withIndexes: boolean },
  ): Promise<Value>;
  /** Options for work on the state directory without a crawler. */
  stateOptions<More extends object>(
    more: More,
  ): Promise<More & { config: Config; dir: string; log: Log; onWork: OnWork }>;
  withChecker<Value>(use: (checker: Checker) => Promise<Value>): Promise<Value>;
  /** Ends the run with a usage error, exit code 2. */
  refuse(message: string): never;
  close(): Promise<void>;
}

/** The action of a command. Resolves with the exit code; `undefined` is 0. */
export type Handler = (session: Session) => Promise<number | undefined> | Promise<void>;

/**
 * Reads the configuration that the options name. Rejects with `CrawlError('config-invalid')`.
 * @param presets settings of the command, before those of its options
 */
export async function openSession(
  command: Command,
  surroundings: Surroundings,
  config: 'at-once' | 'when-asked' = 'at-once',
  presets: readonly Override[] = [],
): Promise<Session> {
  const options = command.optsWithGlobals<CommonOptions>();
  const overrides = [...presets, ...(options.define ?? []), ...settingOverrides(command.opts())];
  const load = async (): Promise<LoadedConfig> => {
    const { loadConfig } = await import('../core/config/load.ts');
    return loadConfig({ ...(options.config === undefined ? {} : { file: options.config }), overrides });
  };
  const isNamed = options.config !== undefined || overrides.length > 0;
  let loaded = config === 'at-once' || isNamed ? await load() : null;
  const configured = async (): Promise<LoadedConfig> => {
    loaded ??= await load();
    return loaded;
  };
  const loadedConfig = (): LoadedConfig => {
    if (loaded === null) throw new TypeError('this command has not read its configuration');
    return loaded;
  };
  const { stdout, stderr, env, clock } = surroundings;
  const ownClock = clock === undefined ? {} : { clock };
  let live: Live = NO_LIVE;
  const openLive = async (): Promise<Live> => {
    const { createLive } = await import('../render/live/live.ts');
    const terminal = isTerminal(stderr, env) ? stderr : null;
    // Between the rows of a table, or the lines of an answer, progress records would only disturb.
    const isRecorded = options.verbose === true || surroundings.isOneOutput !== true;
    const record = isRecorded ? (await logOf()).info : () => {};
    if (live === NO_LIVE) live = await createLive({ terminal, record });
    return live;
  };
  const work = slowWork(openLive, () => clock?.elapsed?.() ?? clock?.now() ?? performance.now());
  const onWork = isTerminal(stderr, env) && !options.quiet ? work.onWork : () => {};
  const out = createOutput(stdout, work.hide);
  let log: Promise<ClosableLog> | null = null;

  const openLog = async (): Promise<ClosableLog> => {
    const { createLog } = await import('../render/log.ts');
    return createLog({
      level: levelOf(options, loaded?.config),
      human: stderr.isTTY,
      color: wantsColor(stderr, env),
      write: (lines) => live.around(() => stderr.write(lines)),
    });
  };
  const logOf = (): Promise<ClosableLog> => {
    log ??= openLog();
    return log;
  };
  const crawlerOptions = async (): Promise<Omit<CrawlerOptions, 'dir'>> => {
    const { config, baseDir } = await configured();
    return { config, baseDir, log: await logOf(), onWork, env, ...ownClock };
  };
  const { dir } = options;
  const waiting = { onSilence: (message: string): void => session.note(message) };
  const session: Session = {
    options,
    surroundings,
    get loaded() {
      return loadedConfig();
    },
    get config() {
      return loadedConfig().config;
    },
    json: options.json === true,
    out,
    get live() {
      return live;
    },
    bold: (text) => (wantsColor(stdout, env) ? styleText('bold', text, { validateStream: false }) : text),
    color: (color, text) => (wantsColor(stdout, env) ? styleText(color, text, { validateStream: false }) : text),
    get width() {
      return stdout.isTTY ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
    },
    canDraw: (stream) => isTerminal(stream, env),
    note(text) {
      if (!options.quiet) session.complain(text);
    },
    complain(text) {
      live.around(() => stderr.write(`${shortLines(text)}\n`));
    },
    log: logOf,
    now: () => clock?.now() ?? Date.now(),
    sleepUntil: (at, signal) => sleepUntil(at, signal, clock),
    onWork,
    async showProgress() {
      if (!options.quiet) await openLive();
    },
    async withCrawler(use, opening) {
      const { openCrawler } = await import('../crawler/open-crawler.ts');
      await takeFromViewer(dir);
      const { answerMeanwhile } = await import('../remote/questions/answer-meanwhile.ts');
      const { leavingNoRefusedCrawl } = await import('./process/refused-start.ts');
      const begin = { ...(await crawlerOptions()), dir, ...opening };
      // Others ask the partitions themselves.
      if (isSpread(dir)) return closing(await openCrawler(begin), use);
      return leavingNoRefusedCrawl(dir, async (judged) =>
        closing(await openCrawler(begin), (opened) =>
          answerMeanwhile(dir, opened, async () => judged(opened, await use(opened)), logOf),
        ),
      );
    },
    async withSegments(use, page) {
      const { folderOfPage } = await import('../cluster/partitions/partition-dir.ts');
      const { openCrawler } = await import('../crawler/open-crawler.ts');
      const opening = await crawlerOptions();
      if (page !== undefined && isSpread(dir)) {
        const { learnSplits } = await import('../cluster/partitions/learn-splits.ts');
        await learnSplits(opening.config, dir);
      }
      const folder = page === undefined ? dir : folderOfPage(dir, page);
      return closing(await openCrawler({ ...opening, dir: folder, access: 'segments' }), use);
    },
    async withDryRun(use, { mustExist = false, written = [] } = {}) {
      const { openSnapshot } = await import('../crawler/open-snapshot.ts');
      return closing(await openSnapshot({ ...(await crawlerOptions()), dir, mustExist }, { written }), use);
    },
    async withSnapshot(use) {
      const { openSnapshot } = await import('../crawler/open-snapshot.ts');
      return closing(await openSnapshot({ ...(await crawlerOptions()), dir }), use);
    },
    async withWorker(use) {
      const { openWorker } = await import('../crawler/open-worker.ts');
      return closing(await openWorker({ ...(await crawlerOptions()), dir }), use);
    },
    async withReader(use, { withIndexes } = { withIndexes: false }) {
      const { askEither } = await import('../remote/questions/ask-either.ts');
      const { openReader } = await import('../crawler/open-reader.ts');
      const { lateAnswers } = await import('../remote/questions/answer-later.ts');
      const log = lateLog(logOf, options.verbose === true);
      const here = async (ask: typeof use) => {
        const late = lateAnswers(dir);
        const onOpen = (): void => late.start(reader);
        const reader = openReader({ dir, log, configured, withIndexes, onOpen, onWork, ...ownClock });
        return closing(reader, () => closing(late, () => ask(reader)));
      };
      return askEither(dir, here, use, waiting);
    },
    async stateOptions(more) {
      await takeFromViewer(dir);
      return { ...more, config: (await configured()).config, dir, log: await logOf(), onWork };
    },
    async withChecker(use) {
      const { openChecker } = await import('../crawler/open-checker.ts');
      return closing(await openChecker(await crawlerOptions()), use);
    },
    refuse: (message) => command.error(`error: ${message}`),
    async close() {
      live.stop();
      live = NO_LIVE;
      await (await log)?.close();
      await out.flush();
    },
  };
  return session;
}

async function takeFromViewer(dir: string): Promise<void> {
  const { askToGiveWay } = await import('../remote/viewer/give-way.ts');
  await askToGiveWay(dir);
}

async function closing<Resource extends { close(): Promise<void> }, Value>(
  resource: Resource,
  use: (resource: Resource) => Promise<Value>,
): Promise<Value> {
  try {
    return await use(resource);
  } finally {
    await resource.close();
  }
}

function levelOf(options: CommonOptions, config: Config | undefined): LogLevel {
  if (options.quiet) return 'error';
  return options.verbose ? 'debug' : (config?.log.level ?? 'info');
}

/** A log that is created by its first record: most questions log nothing. */
function lateLog(open: () => Promise<Log>, isVerbose: boolean): Log {
  const say =
    (level: keyof Log) =>
    (...said: Parameters<Log['info']>): void => {
      if (isVerbose || level === 'warn' || level === 'error') void open().then((log) => log[level](...said));
    };
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}

/** https://no-color.org: any non-empty NO_COLOR turns colours off. */
function wantsColor(stream: NodeJS.WriteStream, env: Surroundings['env']): boolean {
  return isTerminal(stream, env) && !env.NO_COLOR;
}

/** A dumb terminal (Emacs, some consoles) shows control sequences as text. */
function isTerminal(stream: NodeJS.WriteStream, env: Surroundings['env']): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb';
}
