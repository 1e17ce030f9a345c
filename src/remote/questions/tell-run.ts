import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../core/domain/errors.ts';
import { readClusterMark } from '../../operations/state/cluster-mark.ts';
import type { CommandAnswer, CommandName } from '../../operations/steer/steering.ts';
import { askStatus, statusPath } from '../schedule/status-socket.ts';
import { questionsPath } from './answer-questions.ts';
import { tellHolder } from './ask-holder.ts';

/** Time that a crawl that has just been started needs until it takes commands, ms. */
const START_MS = 1_500;
const PAUSE_MS = 100;

/** How long to wait, ms. */
export interface Patience {
  /** For a crawl that is starting. */
  readonly startMs?: number;
  /** For the answer of a crawl that may be suspended; 0: without limit. */
  readonly answerMs?: number;
}

/** What has the same effect when no crawl runs. */
const INSTEAD: Partial<Record<CommandName, string>> = {
  touch: '; without a crawl "incrawl due touch" does it',
  inject: '; without a crawl "incrawl inject" does it',
};

/** Only for commands to a running crawl. */
const STARTS_ONE = ': "incrawl crawl" or "incrawl schedule" starts one, and --dir names another';

/**
 * Sends a command to the crawl that runs on a state directory; resolves once it is done, and its changes of the crawl
 * db are on disk. All commands may be repeated, so one that was cut off is sent again. Rejects with `run-missing` if no
 * crawl runs, and with `usage-invalid` for a crawl that workers share.
 */
export async function tellRun<Name extends CommandName>(
  dir: string,
  command: Name,
  args: readonly unknown[],
  { startMs = START_MS, answerMs = 0 }: Patience = {},
): Promise<CommandAnswer<Name>> {
  if (readClusterMark(dir) !== null) throw sharedByWorkers(dir);
  const startedAt = performance.now();
  for (;;) {
    try {
      return await tellHolder(questionsPath(dir), command, args, answerMs);
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (performance.now() - startedAt > startMs) throw await noRun(dir, command);
      await delay(PAUSE_MS);
    }
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof CrawlError && (error.code === 'holder-gone' || error.code === 'run-missing');

async function noRun(dir: string, command: CommandName): Promise<CrawlError> {
  const scheduler = await askStatus(statusPath(dir)).catch(() => null);
  const next = scheduler?.nextRunAt ?? null;
  const when = next === null ? '' : ` at this moment: the scheduler starts the next run at ${next}`;
  const instead = INSTEAD[command] ?? (next === null ? STARTS_ONE : '');
  return new CrawlError('run-missing', `no crawl runs on ${dir}${when}${instead}`);
}

const sharedByWorkers = (dir: string): CrawlError =>
  new CrawlError(
    'usage-invalid',
    `the crawl in ${dir} is shared by workers, which take no commands: end a worker with Ctrl-C or SIGTERM, ` +
      'add seeds by "incrawl inject"',
  );
