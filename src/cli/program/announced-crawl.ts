// cli/program/: the command tree, its options, and how commands are run.

import type { Crawler, CrawlOptions, CrawlSummary } from '../../crawler/index.ts';
import { announceRun } from '../../remote/run-status/announce.ts';
import type { RunStatus } from '../../remote/run-status/run-status.ts';
import type { Session } from '../session.ts';

/** `crawler.crawl`, published for `incrawl top` and `incrawl serve`. */
export async function announcedCrawl(
  session: Session,
  crawler: Crawler,
  command: RunStatus['command'],
  options: CrawlOptions,
): Promise<CrawlSummary> {
  const log = await session.log();
  const { steering } = crawler;
  const run = await announceRun({ dir: session.options.dir, command, pid: process.pid, log, steering });
  try {
    return await crawler.crawl({
      ...options,
      onProgress: (progress) => {
        run.progress(progress);
        options.onProgress?.(progress);
      },
      onRound: (round) => {
        run.round(round);
        options.onRound?.(round);
      },
    });
  } finally {
    await run.close();
  }
}
