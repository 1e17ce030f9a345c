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

/** URLs of the pages that a segment has fetched with their content. */
export async function fetchedUrls(segments: SegmentStore, id: string): Promise<Set<string>> {
  const urls = new Set<string>();
  const segment = await segments.open(id, 'read');
  try {
    for await (const { url, outcome } of segment.fetched()) if (outcome.kind === 'success') urls.add(url);
  } finally {
    await segment.close();
  }
  return urls;
}
