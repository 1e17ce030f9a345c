import type { Clock } from '../crawler/index.ts';
import type { StopRequests } from './process/stop-signal.ts';

/** The process as the commands see it: `start.ts` supplies that of the built program, tests supply their own. */
export interface Surroundings {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened only by the commands that read it. */
  readonly stdin: () => NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** The clock that the crawl uses; default: the clock of the machine. */
  readonly clock?: Clock;
  readonly stops: StopRequests;
  /** Both streams go to the same file, pipe or terminal, as after `2>&1`. */
  readonly isOneOutput?: boolean;
  /** What a user types to start this program again in a folder; absent: `incrawl`. */
  readonly commandIn?: (folder: string) => string;
}
