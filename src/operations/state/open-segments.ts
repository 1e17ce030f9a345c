import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from '../../core/config/package-version.ts';
import type { Config } from '../../core/config/schema.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Log } from '../../core/ports/log.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import { createFileSegmentStore } from '../../store/files/segments/segment-store.ts';
import { wholeOf } from './cluster-mark.ts';
import { readSegmentsMark } from './segments-mark.ts';

export interface SegmentsOptions {
  readonly config: Config;
  readonly dir: string;
  readonly log: Log;
  /** As for `openObjectSegments`. */
  readonly token?: (() => number) | undefined;
}

/** The segments of a state directory, with WARC files as configured. Throws `config-invalid` if they lie elsewhere. */
export function openSegments({ config, dir, log, token }: SegmentsOptions): SegmentStore {
  const { warcMaxBytes, gzipLevel, store } = config.segments;
  const warc = {
    software: `incrawl/${packageVersion()}`,
    operator: config.agent.contact,
    maxFileBytes: warcMaxBytes,
    gzipLevel,
  };
  if (store !== '') {
    const local = createFileSegmentStore({ dir: join(dir, 'segments'), warc, log });
    return deferred(async () => {
      await refuseLocal(dir, local, store);
      const { openObjectSegments } = await import('../../cluster/open-object-segments.ts');
      return openObjectSegments({ config, log, warc, token, ...placeInCrawl(dir) });
    });
  }
  const mark = readSegmentsMark(dir);
  if (mark !== null && mark.place !== '') {
    const message = `the segments of ${dir} are in ${mark.place}: set segments.store to it`;
    throw new CrawlError('config-invalid', message);
  }
  return createFileSegmentStore({
    dir: join(dir, 'segments'),
    log,
    warc,
    // Workers share the folder: one whose lease has ended must have released its segments by then.
    ...(config.cluster.store === '' ? {} : { lockPatienceMs: config.cluster.leaseMs }),
  });
}

/** A partition of a spread crawl has its segments below those of the whole crawl, which owns the place. */
function placeInCrawl(dir: string): { readonly dir: string; readonly part: string; readonly crawlId: string } {
  const whole = wholeOf(dir);
  return whole === null ? { dir, part: '', crawlId: '' } : { dir: whole.dir, part: whole.part, crawlId: whole.id };
}

/** Segments in the directory would count as lost. */
async function refuseLocal(dir: string, local: SegmentStore, place: string): Promise<void> {
  if (!existsSync(join(dir, 'segments')) || readSegmentsMark(dir)?.isDry) return;
  const { length } = await local.list();
  if (length === 0) return;
  const message =
    `segments.store names ${place}, but ${length} segments of this crawl lie in ${join(dir, 'segments')}; a crawl has ` +
    'its segments in one place: set it for a new crawl, or leave it empty';
  throw new CrawlError('config-invalid', message);
}

/** Code that only some crawls need is loaded on the first call. */
function deferred(load: () => Promise<SegmentStore>): SegmentStore {
  let loaded: Promise<SegmentStore> | null = null;
  const opened = (): Promise<SegmentStore> => {
    loaded ??= load().catch((error: unknown) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
  return {
    create: async (segment, items) => (await opened()).create(segment, items),
    open: async (id, mode) => (await opened()).open(id, mode),
    list: async () => (await opened()).list(),
    info: async (id) => (await opened()).info(id),
    ids: async () => (await opened()).ids(),
    listIncomplete: async () => (await opened()).listIncomplete(),
    remove: async (id) => (await opened()).remove(id),
    letGo: async () => (await loaded)?.letGo?.(),
  };
}
