import {
  type CertainPlace,
  contentShape,
  createClassifier,
  definePlugin,
  isHub,
  type LinkPlace,
  linkPlaces,
  type NoiseReason,
  noiseLinks,
  type Outlink,
  type PlacedLink,
  PUBLISHED_CUTS,
  publishedNoiseLinks,
  type Tape,
  TODAYS_CUTS,
} from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  mode: z
    .enum(['improved', 'published'])
    .default('improved')
    .describe('improved: by position and main content; published: by link-text ratio and URL families.'),
});

export default definePlugin({
  name: 'parsefilter-noise-links',
  api: 1,
  options,
  setup: (_host, { mode }) => {
    const isPublished = mode === 'published';
    const cuts = isPublished ? PUBLISHED_CUTS : TODAYS_CUTS;
    const classOf = createClassifier(false);
    return {
      content: '',
      filter: (page) => {
        const { result, tape } = page;
        if (tape === null || tape.links.size === 0) return;
        const { blocks } = page;
        const certaintyOf = (anchor: number): number => blocks.certaintyWithin(anchor, tape.closeOf(anchor));
        if (isPublished && isHub(tape, result.mainText, contentShape(blocks))) return;
        const links = placedLinks(result.outlinks, tape.links, linkPlaces(tape, cuts, classOf), certaintyOf);
        const noise = isPublished
          ? publishedNoise(links, page.url)
          : noiseLinks(links, result.mainText, contentShape(blocks));
        if (noise.size === 0) return;
        result.outlinks = result.outlinks.map((outlink) => {
          const reason = noise.get(outlink.url);
          // The next page of an article goes on with its content, wherever the link to it stands.
          return reason === undefined || outlink.isNextPage ? outlink : marked(outlink, reason);
        });
      },
    };
  },
});

/**
 * Copies the known fields one by one: V8 gives copies made by spread hidden classes of their own, which is slow here
 * and again when they are packed.
 */
function marked(outlink: Outlink, noise: NoiseReason): Outlink {
  const { url, anchor, rel, nofollow, lang, lastModifiedAt, variant } = outlink;
  if ((lang ?? lastModifiedAt ?? variant) !== undefined) return { ...outlink, noise };
  return { url, anchor, rel, nofollow, noise };
}

/** The outlinks with at least one located anchor. */
function placedLinks(
  outlinks: readonly Outlink[],
  anchors: Tape['links'],
  placeOf: ReadonlyMap<number, LinkPlace>,
  certaintyOf: (anchor: number) => number,
): PlacedLink[] {
  const links: PlacedLink[] = [];
  for (const { url, anchor } of outlinks) {
    const places: CertainPlace[] = [];
    for (const entry of anchors.get(url) ?? []) {
      const place = placeOf.get(entry);
      if (place === undefined) continue;
      const { region, part } = place;
      places.push({ region, part, certainty: certaintyOf(entry) });
    }
    if (places.length > 0) links.push({ url, anchor, places });
  }
  return links;
}

function publishedNoise(links: readonly PlacedLink[], pageUrl: string): Map<string, NoiseReason> {
  const { host } = new URL(pageUrl);
  return publishedNoiseLinks(links, (url) => new URL(url).host === host);
}
