import { join } from 'node:path';
import { createObjectSegmentStore } from '../../adapters/files/object-segments/object-segment-store.ts';
import type { WarcOptions } from '../../adapters/files/warc/warc-writer.ts';
import { bucketPlace } from '../../adapters/s3/address.ts';
import type { Environment } from '../../adapters/s3/credentials.ts';
import { createS3ObjectStore } from '../../adapters/s3/s3-object-store.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { Config } from '../../config/schema.ts';
import type { Log } from '../../ports/log.ts';
import type { ObjectStore } from '../../ports/objects/object-store.ts';
import type { SegmentStore } from '../../ports/segment-store.ts';
import { crawlDbServer } from '../cluster/store-urls.ts';
import { checkOwner, readSegmentsMark, takeOwnership } from './segments-mark.ts';

/** Time without a heartbeat after which a writer loses a segment, where no lease says it, ms. */
const PATIENCE_MS = 60_000;

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

/** Fencing of the writer: a token that grows with each lease, and the time that a lease lasts. */
export interface SegmentsLease {
  readonly token: number;
  readonly leaseMs: number;
}

/**
 * The segments of a state directory in the object store of `segments.store`.
 * @param part a part of the crawl with segments of its own, by its name; empty: the whole crawl
 * @param crawlId of a crawl that several directories work on
 */
export function openObjectSegments(
  {
    config,
    dir,
    log,
    warc,
  }: { readonly config: Config; readonly dir: string; readonly log: Log; readonly warc: WarcOptions },
  {
    part = '',
    lease,
    crawlId = '',
  }: { readonly part?: string; readonly lease?: SegmentsLease; readonly crawlId?: string } = {},
): SegmentStore {
  const { store: place, partBytes, sealEveryMs } = config.segments;
  const owned = openObjects(config, place);
  const objects = part === '' ? owned : openObjects(config, `${place.replace(/\/+$/, '')}/${part}`);
  const isShared = crawlDbServer(config.cluster) !== null;
  return createObjectSegmentStore({
    objects,
    spoolDir: join(dir, 'spool', part),
    log,
    warc,
    partBytes,
    sealMs: sealEveryMs,
    token: lease?.token ?? 0,
    patienceMs: lease?.leaseMs ?? (isShared ? config.cluster.leaseMs : PATIENCE_MS),
    ownership: { check: () => checkOwner(dir, owned, crawlId), take: () => takeOwnership(dir, owned, crawlId) },
    ...(readSegmentsMark(dir)?.isDry && { isDry: true }),
  });
}
