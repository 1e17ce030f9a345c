import type { SegmentStore } from '../../ports/segment-store.ts';

/** The outlinks of everything that was parsed, as the mapper of `linkclusters` wants them. */
export async function* crawlLinks(segments: SegmentStore): AsyncGenerator<string> {
  for (const { id } of await segments.list()) {
    const segment = await segments.open(id, 'read');
    try {
      for await (const { outlinks } of segment.parsed({ texts: false })) {
        for (const { url, rel, noise } of outlinks) if (rel === 'link') yield noise === undefined ? url : `${url}\t1`;
      }
    } finally {
      await segment.close();
    }
  }
}
