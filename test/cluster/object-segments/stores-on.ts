import { createObjectSegmentStore } from '../../../src/cluster/object-segments/object-segment-store.ts';
import type { ObjectStore } from '../../../src/core/ports/objects/object-store.ts';
import { WARC_OPTIONS } from '../../store/files/temporary-folder.ts';

/** Small parts, so that segments consist of several. */
const TERMS = { partBytes: 64 << 10, sealMs: 60_000, token: 0, patienceMs: 60_000, warc: WARC_OPTIONS };

/** Segment stores over objects. Each has a local folder of its own, as processes on other machines have. */
export const storesOn =
  (newSpool: () => string) =>
  (objects: ObjectStore): ReturnType<typeof createObjectSegmentStore> =>
    createObjectSegmentStore({ ...TERMS, objects, spoolDir: newSpool() });
