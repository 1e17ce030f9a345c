// cluster/: a crawl of several partitions, on one or several machines: PostgreSQL, an object store, workers.

import { join } from 'node:path';
import type { Config } from '../core/config/schema.ts';
import type { Log } from '../core/ports/log.ts';
import type { ObjectStore } from '../core/ports/objects/object-store.ts';
import type { SegmentStore } from '../core/ports/segment-store.ts';
import { checkOwner, readSegmentsMark, segmentsPlace, takeOwnership } from '../operations/state/segments-mark.ts';
import { systemClock } from '../operations/system/clock.ts';
import type { WarcOptions } from '../store/files/warc/warc-writer.ts';
import { createObjectSegmentStore } from './object-segments/object-segment-store.ts';
import { bucketPlace, type Environment } from './s3/address.ts';
import { createS3ObjectStore } from './s3/s3-object-store.ts';

/** Time without a heartbeat after which a writer loses a segment, if no lease sets it, ms. */
const PATIENCE_MS = 60_000;

/** Bytes after which written data is stored, and so the size of the objects: large enough to need few requests. */
const PART_BYTES = 32 << 20;

/** Objects below a place such as `s3://bucket/prefix`. Throws `config-invalid` without credentials or place. */
export function openObjects(config: Config, place: string, env: Environment = process.env): ObjectStore {
  const { endpoint, region, pathStyle, timeoutMs, patienceMs } = config.s3;
  const options = {
    ...bucketPlace(place),
    endpoint: endpoint || env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || '',
    region: region || env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1',
    pathStyle,
    timeoutMs,
    patienceMs,
  };
  return createS3ObjectStore(options, { clock: systemClock, random: Math.random, env });
}

export interface ObjectSegmentsOptions {
  readonly config: Config;
  /** State directory of the whole crawl. */
  readonly dir: string;
  readonly log: Log;
  readonly warc: WarcOptions;
  /**
   * Path, below the directory and the place, of a part of the crawl with segments of its own; empty: the whole crawl.
   */
  readonly part: string;
  /** Id of a crawl that several directories work on; empty: the directory is the crawl. */
  readonly crawlId: string;
  /** The fencing token of the lease that the process holds now; it goes into manifests. Absent: no lease is needed. */
  readonly token?: (() => number) | undefined;
}

/** The segments of a state directory in the object store of `segments.store`. */
export function openObjectSegments(options: ObjectSegmentsOptions): SegmentStore {
  const { config, dir, log, warc, part, crawlId, token } = options;
  const { store: place, sealEveryMs } = config.segments;
  const owned = openObjects(config, place);
  const objects = part === '' ? owned : openObjects(config, `${segmentsPlace(config)}/${part}`);
  const isShared = config.cluster.store !== '';
  return createObjectSegmentStore({
    objects,
    spoolDir: join(dir, part, 'spool'),
    log,
    warc,
    partBytes: PART_BYTES,
    sealMs: sealEveryMs,
    // A lease lasts for one turn, the store for many.
    get token() {
      return token?.() ?? null;
    },
    keepsSegments: token !== undefined,
    patienceMs: isShared ? config.cluster.leaseMs : PATIENCE_MS,
    ownership: { check: () => checkOwner(dir, owned, crawlId), take: () => takeOwnership(dir, owned, crawlId) },
    ...(readSegmentsMark(dir)?.isDry && { isDry: true }),
  });
}
