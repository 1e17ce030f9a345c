import type { Crawler } from '../../crawler.ts';
import type { Session } from '../session.ts';

/** Help of `--dry-run` for commands that take the same way with it, on a copy of the state that is thrown away. */
export const DRY_RUN = 'only say what would be done; nothing is changed';

/** Runs on the state directory, or for a dry run on a copy of it. */
export function asAsked<Value>(
  session: Session,
  dryRun: boolean,
  use: (crawler: Crawler) => Promise<Value>,
  written?: readonly string[],
): Promise<Value> {
  return dryRun ? session.withDryRun(use, written) : session.withCrawler(use);
}

/** A summary, or several, as one line of JSON; that of a dry run says so. */
export function jsonOf(summary: object, dryRun: boolean): string {
  if (!dryRun) return JSON.stringify(summary);
  const marked = (each: object): object => ({ ...each, dryRun });
  return JSON.stringify(Array.isArray(summary) ? summary.map(marked) : marked(summary));
}

/** What stands before the text of a summary. */
export const dryRunNotice = (dryRun: boolean): string => (dryRun ? 'Dry run, nothing was changed:\n' : '');
