import { join } from 'node:path';
import { createFileSegmentStore } from '../../adapters/files/segments/segment-store.ts';
import { packageVersion } from '../../config/package-version.ts';
import type { Config } from '../../config/schema.ts';
import type { Log } from '../../ports/log.ts';
import type { SegmentStore } from '../../ports/segment-store.ts';
import { crawlDbServer } from '../cluster/store-urls.ts';

/** The segments of a state directory, with WARC files as configured. */
export function openSegments({ config, dir, log }: { config: Config; dir: string; log: Log }): SegmentStore {
  const { warcMaxBytes, gzipLevel } = config.segments;
  return createFileSegmentStore({
    dir: join(dir, 'segments'),
    log,
    warc: {
      software: `incrawl/${packageVersion()}`,
      operator: config.agent.contact,
      maxFileBytes: warcMaxBytes,
      gzipLevel,
    },
    // Workers share the folder: one whose lease has ended lets go of its segments by then.
    ...(crawlDbServer(config.cluster) === null ? {} : { lockPatienceMs: config.cluster.leaseMs }),
  });
}
