import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import type { RobotsStore, StoredRobots } from '../../core/ports/robots.ts';

/** Files that are open at a time: hundreds of hosts may be requested for the first time at the same moment. */
const FILES_AT_ONCE = 4;

/**
 * One small file per origin, in folders by hash. An unreadable file counts as absent, so robots.txt is fetched again.
 */
export function createFileRobotsStore(dir: string): RobotsStore {
  const fileOf = (origin: string): string => {
    const name = createHash('sha256').update(origin).digest('hex').slice(0, 32);
    return join(dir, name.slice(0, 2), `${name}.json`);
  };
  let writes = 0;
  const files = new PQueue({ concurrency: FILES_AT_ONCE });
  async function write(origin: string, entry: StoredRobots): Promise<void> {
    const file = fileOf(origin);
    const fresh = `${file}.${process.pid}.${writes++}`;
    await mkdir(dirname(file), { recursive: true });
    try {
      await writeFile(fresh, JSON.stringify({ origin, ...entry }));
      await rename(fresh, file);
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
  }
  return {
    async load(origin): Promise<StoredRobots | undefined> {
      try {
        return entryOf(JSON.parse(await files.add(() => readFile(fileOf(origin), 'utf8'))), origin);
      } catch {
        return undefined;
      }
    },
    save: (origin, entry) => files.add(() => write(origin, entry)),
  };
}

/** The entry, if it is complete and belongs to this origin. */
function entryOf(read: unknown, origin: string): StoredRobots | undefined {
  const stored = read as (Partial<StoredRobots> & { origin?: unknown }) | null;
  if (stored?.origin !== origin) return undefined;
  const { text, status, fetchedAt, usableAt, fault, restUntil } = stored;
  const isNumberOrNull = (value: unknown): value is number | null => value === null || typeof value === 'number';
  const isWhole = typeof text === 'string' && typeof fetchedAt === 'number';
  if (!isWhole || !isNumberOrNull(status) || !isNumberOrNull(usableAt)) return undefined;
  return {
    text,
    status,
    fetchedAt,
    usableAt,
    ...(typeof fault === 'string' && { fault }),
    ...(typeof restUntil === 'number' && { restUntil }),
  };
}
