import { boundsOfEntry } from '../../core/config/hosts/host-entries.ts';
import type { Config } from '../../core/config/schema.ts';

/** All settings that decide next visits, as text. */
export const scheduleSettings = ({
  schedule: { name, intervalMs, minIntervalMs, maxIntervalMs, bounds },
  hosts,
}: Config): string => {
  const ofHosts = hosts.map((entry) => [entry.match, boundsOfEntry(entry) ?? null]);
  return JSON.stringify([name, intervalMs, minIntervalMs, maxIntervalMs, bounds, ofHosts]);
};
