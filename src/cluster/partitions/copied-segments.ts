import { existsSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { tokenIsOld } from '../../core/domain/errors.ts';
import { segmentsPlace } from '../../operations/state/segments-mark.ts';
import { openObjects } from '../open-object-segments.ts';
import { partitionDir } from './partition-dir.ts';

export interface CopySegmentsDeps {
  readonly config: Config;
  /** Of the whole crawl. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** Whether it is still certain that no other process works on the same segments. */
  isHeld(): boolean;
}

/**
 * Copies the segments of a partition, which is not written meanwhile, to one whose own segments are of no use. What an
 * earlier copy left there is removed. Rejects with `lease-lost`.
 */
export async function copySegments(
  { config, dir, signal, isHeld }: CopySegmentsDeps,
  from: number,
  to: number,
): Promise<void> {
  const requireHeld = (): void => {
    signal.throwIfAborted();
    if (!isHeld()) throw tokenIsOld();
  };
  requireHeld();
  if (segmentsPlace(config) === '') {
    const [source, target] = [from, to].map((partition) => join(partitionDir(dir, partition), 'segments'));
    await rm(target as string, { recursive: true, force: true });
    if (existsSync(source as string)) await cp(source as string, target as string, { recursive: true });
    return;
  }
  const [source, target] = [from, to].map((partition) =>
    openObjects(config, `${segmentsPlace(config)}/partitions/${senderOf(partition)}`),
  );
  if (source === undefined || target === undefined) return;
  try {
    const left: string[] = [];
    for await (const { key } of target.list('')) left.push(key);
    await target.remove(left);
    for await (const { key } of source.list('')) {
      requireHeld();
      const object = await source.get(key);
      if (object !== null) await target.put(key, object.bytes);
    }
  } finally {
    await source.close();
    await target.close();
  }
}
