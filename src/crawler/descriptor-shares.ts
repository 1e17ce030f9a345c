// crawler/: composition: a state directory opened to write, to read, as a snapshot or as a worker.
import { descriptorLimit } from '../adapters/system/descriptor-limit.ts';
import type { Config } from '../config/schema.ts';
import { type DescriptorShares, fewerRequests, shareDescriptors, tooFewDescriptors } from '../domain/system-limit.ts';
import type { Log } from '../ports/log.ts';

export interface SharedDescriptors extends DescriptorShares {
  /**
   * To be called before requests: warns, once, when fewer run at a time than configured. Throws `system-limit` when
   * there are too few descriptors for any.
   */
  requireEnough(): void;
}

/** The descriptors of this process, shared out as configured as far as they suffice. */
export function descriptorShares(
  { config, log }: { readonly config: Pick<Config, 'fetch'>; readonly log: Pick<Log, 'warn'> },
  limit: number | null = descriptorLimit(),
): SharedDescriptors {
  const wanted = config.fetch.concurrency;
  const shares = shareDescriptors(limit, wanted);
  let hasWarned = false;
  return {
    ...(shares ?? { concurrency: 1, idleSockets: 0 }),
    requireEnough() {
      if (limit === null) return;
      if (shares === null) throw tooFewDescriptors(limit);
      if (hasWarned || shares.concurrency === wanted) return;
      hasWarned = true;
      log.warn(fewerRequests(limit, wanted, shares.concurrency));
    },
  };
}
