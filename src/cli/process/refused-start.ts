import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Crawler } from '../../crawler.ts';
import { EXIT, exitCodeOf } from '../exit.ts';

/**
 * Runs `use` on a crawl. Where `use` is refused, as wrong usage or because no URL was let in, a state directory that
 * was not there before is removed again: the next command would take it for a crawl that has begun.
 */
export async function leavingNoRefusedCrawl<Value>(
  dir: string,
  use: (judged: (crawler: Crawler, value: Value) => Promise<Value>) => Promise<Value>,
): Promise<Value> {
  const isNew = !existsSync(dir);
  let isRefused = false;
  try {
    return await use(async (crawler, value) => {
      // Counting is for a crawl that has not gone far.
      isRefused = isNew && !existsSync(join(dir, 'segments')) && (await crawler.stats()).urls === 0;
      return value;
    });
  } catch (error) {
    isRefused = isNew && exitCodeOf(error) === EXIT.usage;
    throw error;
  } finally {
    if (isRefused && hasNoRound(dir)) await rm(dir, { recursive: true, force: true });
  }
}

/** Whether a state directory holds a crawl db of its own at most: rounds, shared crawls and viewers leave more. */
const hasNoRound = (dir: string): boolean =>
  existsSync(dir) && readdirSync(dir).every((name) => name === 'db' || name.endsWith('.sock'));
