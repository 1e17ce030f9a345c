import type { Crawler } from '../../crawler/index.ts';
import { printedJson } from '../../render/safe-text.ts';
import type { DryRunOpening, Session } from '../session.ts';

/** Help text of `--dry-run` for commands that then run on a copy of the state, which is deleted afterwards. */
export const DRY_RUN = 'only say what would be done; nothing is changed';

/**
 * Runs `use` on the state directory, or on a copy of it for a dry run. Unless `mustExist` is false, a directory that
 * holds no crawl is refused.
 */
export function withCrawlerOrCopy<Value>(
  session: Session,
  dryRun: boolean,
  use: (crawler: Crawler) => Promise<Value>,
  { mustExist = true, ...opening }: DryRunOpening = {},
): Promise<Value> {
  return dryRun ? session.withDryRun(use, { mustExist, ...opening }) : session.withCrawler(use, { mustExist });
}

/** A summary, or a list of them, as JSON; in a dry run each one has `dryRun: true`. */
export function jsonOf(summary: object, dryRun: boolean): string {
  if (!dryRun) return printedJson(summary);
  const marked = (each: object): object => ({ ...each, dryRun });
  return printedJson(Array.isArray(summary) ? summary.map(marked) : marked(summary));
}

/** The first line of a summary for people. */
export const dryRunNotice = (dryRun: boolean): string => (dryRun ? 'Dry run, nothing was changed:\n' : '');
