import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RobotsStore, StoredRobots } from '../../ports/robots.ts';

/** One small file per origin, in folders by hash. A file that cannot be read counts as absent: it is fetched again. */
export function createFileRobotsStore(dir: string): RobotsStore {
  const fileOf = (origin: string): string => {
    const name = createHash('sha256').update(origin).digest('hex').slice(0, 32);
    return join(dir, name.slice(0, 2), `${name}.json`);
  };
  let writes = 0;
  return {
    async load(origin): Promise<StoredRobots | undefined> {
      try {
        const { origin: of, ...entry } = JSON.parse(await readFile(fileOf(origin), 'utf8')) as StoredRobots & {
          origin: string;
        };
        return of === origin && typeof entry.text === 'string' ? entry : undefined;
      } catch {
        return undefined;
      }
    },
    async save(origin, entry): Promise<void> {
      const file = fileOf(origin);
      const fresh = `${file}.${process.pid}.${writes++}`;
      await mkdir(dirname(file), { recursive: true });
      await writeFile(fresh, JSON.stringify({ origin, ...entry }));
      await rename(fresh, file);
    },
  };
}
