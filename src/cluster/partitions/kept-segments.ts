import type { Config } from '../../core/config/schema.ts';
import { Lru } from '../../core/domain/lru.ts';
import type { Log } from '../../core/ports/log.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import { openSegments } from '../../operations/state/open-segments.ts';

/** Partitions whose segments are kept open. */
const KEPT = 32;

interface Kept {
  readonly segments: SegmentStore;
  token: number;
}

/**
 * The segment stores of partitions by their folders, each kept from one turn to the next: a store on objects remembers
 * manifests, which would otherwise be read again in each turn.
 */
export function keptSegments(config: Config, log: Log): (dir: string, token: number) => SegmentStore {
  const stores = new Lru<Kept>({ entries: KEPT });
  return (dir, token) => {
    let kept = stores.get(dir);
    if (kept === undefined) {
      const fresh: Kept = { segments: openSegments({ config, dir, log, token: () => fresh.token }), token };
      kept = fresh;
    }
    kept.token = token;
    stores.set(dir, kept);
    return kept.segments;
  };
}
