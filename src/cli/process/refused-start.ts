import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Crawler } from '../../crawler/index.ts';
import { EXIT, exitCodeOf } from '../../render/exit.ts';

/**
 * Runs `use` on a crawl. If `use` is refused (wrong usage, no URL was admitted, or all addresses are private), a state
 * directory that did not exist before is removed again: the next command would take it for a crawl that has begun.
 */
export async function leavingNoRefusedCrawl<Value>(
  dir: string,
  use: (judged: (crawler: Crawler, value: Value) => Promise<Value>) => Promise<Value>,
): Promise<Value> {
  const isNew = !existsSync(dir);
  let isRefused = false;
  try {
    return await use(async (crawler, value) => {
      // Counting is only for a crawl that has not gone far.
      isRefused =
        isNew && (existsSync(join(dir, 'segments')) ? await isAllBlocked(crawler) : (await crawler.stats()).urls === 0);
      return value;
    });
  } catch (error) {
    isRefused = isNew && exitCodeOf(error) === EXIT.usage;
    throw error;
  } finally {
    if (isRefused && hasNoMore(dir)) await rm(dir, { recursive: true, force: true });
  }
}

/** Maximum number of URLs of a crawl that has not gone far. */
const FEW = 1_000;

/** Whether no request was sent because all URLs lead to addresses that the guard refuses. */
async function isAllBlocked(crawler: Crawler): Promise<boolean> {
  const { urls, byStatus } = await crawler.stats();
  if (urls > FEW || byStatus.unfetched !== urls) return false;
  let blocked = 0;
  for await (const _ of crawler.records({ where: "error = 'address-blocked'" })) blocked++;
  return blocked === urls;
}

const OF_A_ROUND: ReadonlySet<string> = new Set(['db', 'reports', 'segments']);

/** Whether a state directory holds only a crawl db and its rounds: schedulers and shared crawls leave more. */
const hasNoMore = (dir: string): boolean =>
  existsSync(dir) && readdirSync(dir).every((name) => OF_A_ROUND.has(name) || name.endsWith('.sock'));
