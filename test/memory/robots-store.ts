import type { RobotsStore, StoredRobots } from '../../src/core/ports/robots.ts';

/** Copies of robots.txt for as long as the process lives. */
export function createMemoryRobotsStore(): RobotsStore {
  const entries = new Map<string, StoredRobots>();
  return {
    load: async (origin) => entries.get(origin),
    save: async (origin, entry) => {
      entries.set(origin, entry);
    },
  };
}
