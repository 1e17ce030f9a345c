import type { Crawler, CrawlOptions, CrawlSummary } from '../../crawler.ts';
import type { Session } from '../session.ts';
import { announceRun } from './announce.ts';
import type { RunStatus } from './run-status.ts';

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
