import { createHash } from 'node:crypto';
import { FeatureFilter, featureNamed, featureSizing } from 'incrawl/bundled';
import {
  definePlugin,
  type UrlFamily,
  type UrlFeature,
  type UrlFeatures,
  type UrlFilter,
  type UrlVerdict,
  urlSegments,
} from 'incrawl/plugin';
import { z } from 'zod';

const features = z.array(z.string().min(1)).min(1);

const options = z.strictObject({
  mode: z
    .enum(['defer', 'published'])
    .default('defer')
    .describe('defer: URLs beyond the share of their family wait; published: similar URLs are dropped.'),
  quota: z
    .number()
    .int()
    .min(1)
    .default(100)
    .describe('defer: URLs of a family that enter before anything is known of what they hold.'),
  siteQuota: z.number().int().min(1).default(1_000).describe('defer: the same for all of a site together.'),
  growth: z
    .number()
    .min(0)
    .default(4)
    .describe('defer: further URLs of a family for each visit that brought something new, while most of them do.'),
  trial: z.number().int().min(0).default(10).describe('defer: URLs that enter in a day although their family is full.'),
  demote: z.number().gt(0).lt(1).default(0.1).describe('defer: factor on the score of such a URL.'),
  families: z
    .array(features)
    .min(1)
    .default([
      ['site', 'path', 'shape', 'parameters'],
      ['site', 'path', 'shape'],
      ['site', 'path'],
      ['site', 'section'],
    ])
    .describe('defer: features that the URLs of a family have in common, the narrowest family first.'),
  maxFamilies: z
    .number()
    .int()
    .min(1)
    .default(20_000)
    .describe('defer: most families counted of a site, about 200 bytes each; others count in their broader ones.'),
  urls: z.number().int().min(1).default(1_000_000).describe('published: number of URLs expected (k).'),
  falsePositives: z.number().gt(0).lt(1).default(0.01).describe('published: false positive rate (P).'),
  features: features
    .default(['site', 'depth', 'directory', 'tail'])
    .describe('published: features of a URL, each with its own part of the filter.'),
});

export default definePlugin({
  name: 'urlfilter-similarity',
  api: 1,
  options,
  setup: (_host, given) => (given.mode === 'defer' ? sharingFilter(given) : publishedFilter(given)),
});

const ACCEPTED: UrlVerdict = Object.freeze({ accept: true });

type Options = z.infer<typeof options>;

/** The features of a list. Throws a `TypeError` for an unknown name. */
function featuresNamed(names: readonly string[], more: UrlFeatures): UrlFeature[] {
  return names.map((name) => {
    const feature = featureNamed(name, more);
    if (feature !== undefined) return feature;
    throw new TypeError(
      `no feature of a URL is called "${name}"; expected site, depth, directory, tail, path, section, shape, ` +
        'parameters, a segment such as segment:3, or a feature of another URL filter',
    );
  });
}

function sharingFilter({ quota, siteQuota, families, growth, trial, demote, maxFamilies }: Options): UrlFilter {
  let kinds: readonly (readonly UrlFeature[])[] = [];
  const familiesOf = (url: string): UrlFamily[] => {
    const segments = urlSegments(url);
    const found: UrlFamily[] = [];
    for (const kind of kinds) {
      const name = nameOf(kind, segments);
      if (name !== null && found.at(-1)?.name !== name) found.push({ name, quota });
    }
    found.push({ name: segments[0] ?? '', quota: siteQuota });
    return found;
  };
  return {
    useFeatures: (more) => {
      kinds = families.map((names) => featuresNamed(names, more));
    },
    filter: () => ACCEPTED,
    describe: (url) =>
      `families ${familiesOf(url)
        .map(({ name }) => name)
        .join(', ')}`,
    sharing: { familiesOf, growth, trial, demote, maxFamilies, free: Math.min(quota, siteQuota) },
  };
}

/** `a.org|news|#.html`; `null`: the URL lacks one of the features. */
function nameOf(kind: readonly UrlFeature[], segments: readonly string[]): string | null {
  let name = '';
  for (const [i, feature] of kind.entries()) {
    const value = feature(segments);
    if (value === null) return null;
    name += i === 0 ? value : `|${value}`;
  }
  return name;
}

function publishedFilter({ urls, falsePositives, features: names }: Options): UrlFilter {
  const { bitsPerPart } = featureSizing(urls, falsePositives, names.length);
  const md5 = (text: string): Uint8Array => createHash('md5').update(text).digest();
  let filter: FeatureFilter | null = null;
  const used = (): FeatureFilter => {
    filter ??= new FeatureFilter({ features: names, bitsPerPart, md5 });
    return filter;
  };
  return {
    useFeatures: (more) => {
      featuresNamed(names, more);
      filter = new FeatureFilter({ features: names, bitsPerPart, md5, more });
    },
    filter: () => ACCEPTED,
    describe: (url) => `features ${used().describe(url)}`,
    learn: (url) => used().add(url),
    admit: (url) =>
      used().isSimilar(url)
        ? { admit: false, reason: `similar to known URLs: ${used().describe(url)}` }
        : { admit: true },
  };
}
