import {
  definePlugin,
  linkPlaces,
  noiseLinks,
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
    .describe('improved: by place and main content; published: by link-text ratio and families of URLs.'),
});

export default definePlugin({
  name: 'parsefilter-noise-links',
  api: 1,
  options,
  setup: (_host, { mode }) => ({
    content: '',
    filter: (page) => {
      const { result, linkElements } = page;
      if (page.dom === null || linkElements.size === 0) return;
      const isPublished = mode === 'published';
      const places = linkPlaces(page.dom as unknown as PageNode, isPublished ? PUBLISHED_CUTS : TODAYS_CUTS);
      const links = result.outlinks.flatMap(({ url, anchor }): PlacedLink[] => {
        const found = (linkElements.get(url) ?? []).flatMap((element) => {
          const place = places.get(element as unknown as PageNode);
          return place === undefined ? [] : [place];
        });
        return found.length === 0 ? [] : [{ url, anchor, places: found }];
      });
      const host = new URL(page.url).host;
      const noise = isPublished
        ? publishedNoiseLinks(links, (url) => new URL(url).host === host)
        : noiseLinks(links, result.mainText);
      if (noise.size === 0) return;
      result.outlinks = result.outlinks.map((outlink) => {
        const reason = noise.get(outlink.url);
        return reason === undefined ? outlink : { ...outlink, noise: reason };
      });
    },
  }),
});
