import {
  type BlockTable,
  type CertainPlace,
  createClassifier,
  isHub,
  isMostlyLinks,
  type LinkPlace,
  linkPlaces,
  type NoiseReason,
  noiseLinks,
  type PlacedLink,
  PUBLISHED_CUTS,
  publishedNoiseLinks,
  type Tape,
  TODAYS_CUTS,
} from 'incrawl/bundled';
import { definePlugin, type Outlink } from 'incrawl/plugin';
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
        if (isPublished && isHub(tape, result.mainText, isMostlyLinks(blocks))) return;
        const links = placedLinks(result.outlinks, tape, linkPlaces(tape, cuts, classOf), blocks);
        const noise = isPublished
          ? publishedNoise(links, page.url)
          : noiseLinks(links, result.mainText, blocks.isArticle && !isMostlyLinks(blocks));
        if (noise.size === 0) return;
        result.outlinks = result.outlinks.map((outlink) => {
          const reason = noise.get(outlink.url);
          // The next page of an article continues its content, wherever the link to it is.
          return reason === undefined || outlink.isNextPage ? outlink : marked(outlink, reason);
        });
      },
    };
  },
});

/**
 * Copies the known fields one by one: copies made by spread get separate hidden classes in V8, which is slow here and
 * again when they are packed.
 */
function marked(outlink: Outlink, noise: NoiseReason): Outlink {
  const { url, anchor, rel, nofollow, lang, lastModifiedAt, variant } = outlink;
  if ((lang ?? lastModifiedAt ?? variant) !== undefined) return { ...outlink, noise };
  return { url, anchor, rel, nofollow, noise };
}

/** The outlinks with at least one located anchor. */
function placedLinks(
  outlinks: readonly Outlink[],
  tape: Tape,
  placeOf: ReadonlyMap<number, LinkPlace>,
  blocks: BlockTable,
): PlacedLink[] {
  const links: PlacedLink[] = [];
  for (const { url, anchor } of outlinks) {
    const places: CertainPlace[] = [];
    for (const entry of tape.links.get(url) ?? []) {
      const place = placeOf.get(entry);
      if (place !== undefined) places.push(certainPlace(place, blocks, entry, tape.closeOf(entry)));
    }
    if (places.length > 0) links.push({ url, anchor, places });
  }
  return links;
}

function certainPlace({ region, part }: LinkPlace, blocks: BlockTable, from: number, to: number): CertainPlace {
  const within = blocks.certaintyWithin(from, to);
  if (!Number.isNaN(within)) return { region, part, certainty: within, isPicture: false };
  return { region, part, certainty: blocks.certaintyBeside(from, to), isPicture: part.textChars === 0 };
}

function publishedNoise(links: readonly PlacedLink[], pageUrl: string): Map<string, NoiseReason> {
  const { host } = new URL(pageUrl);
  return publishedNoiseLinks(links, (url) => new URL(url).host === host);
}
