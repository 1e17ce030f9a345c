import {
  createClassifier,
  definePlugin,
  type LinkPlace,
  linkPlaces,
  type NoiseReason,
  noiseLinks,
  type Outlink,
  type Page,
  type PageNode,
  type PlacedLink,
  PUBLISHED_CUTS,
  publishedNoiseLinks,
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
        const { result, linkElements } = page;
        if (page.dom === null || linkElements.size === 0) return;
        const places = linkPlaces(page.dom as unknown as PageNode, cuts, classOf);
        const links = placedLinks(page, places);
        const noise = isPublished ? publishedNoise(links, page.url) : noiseLinks(links, result.mainText);
        if (noise.size === 0) return;
        result.outlinks = result.outlinks.map((outlink) => {
          const reason = noise.get(outlink.url);
          return reason === undefined ? outlink : marked(outlink, reason);
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
  const { url, anchor, rel, nofollow, lang, lastModifiedAt } = outlink;
  if (lang !== undefined || lastModifiedAt !== undefined) return { ...outlink, noise };
  return { url, anchor, rel, nofollow, noise };
}

/** The outlinks with at least one located anchor. */
function placedLinks({ result, linkElements }: Page, placeOf: ReadonlyMap<PageNode, LinkPlace>): PlacedLink[] {
  const links: PlacedLink[] = [];
  for (const { url, anchor } of result.outlinks) {
    const places: LinkPlace[] = [];
    for (const element of linkElements.get(url) ?? []) {
      const place = placeOf.get(element as unknown as PageNode);
      if (place !== undefined) places.push(place);
    }
    if (places.length > 0) links.push({ url, anchor, places });
  }
  return links;
}

function publishedNoise(links: readonly PlacedLink[], pageUrl: string): Map<string, NoiseReason> {
  const { host } = new URL(pageUrl);
  return publishedNoiseLinks(links, (url) => new URL(url).host === host);
}
