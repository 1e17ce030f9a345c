import type { Config } from '../../core/config/schema.ts';
import { noteSplits, readClusterMark } from '../../operations/state/cluster-mark.ts';
import { isAway } from '../ports/shared-store.ts';
import { openCrawlStore } from '../servers/crawl-store.ts';

/**
 * Notes in a state directory which partitions other machines have split, for code that opens no crawl db. If the server
 * does not answer, what is already known holds.
 */
export async function learnSplits(config: Config, dir: string): Promise<void> {
  const mark = readClusterMark(dir);
  if (mark?.partitions === undefined || config.cluster.store === '' || config.cluster.name !== mark.name) return;
  try {
    const store = await openCrawlStore(config.cluster);
    const { splits = [] } = await store.readMap().finally(() => store.close());
    noteSplits(dir, mark, splits);
  } catch (error) {
    if (!isAway(error)) throw error;
  }
}
