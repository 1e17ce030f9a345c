import { createHash } from 'node:crypto';
import {
  definePlugin,
  FeatureFilter,
  featureNamed,
  featureSizing,
  SimilarQuota,
  type UrlFilter,
  urlSignature,
} from 'incrawl/plugin';
import { z } from 'zod';

const FEATURE = 'expected site, depth, directory, tail, parameters, or a segment such as segment:3';

const options = z.strictObject({
  mode: z
    .enum(['defer', 'published'])
    .default('defer')
    .describe(
      'defer: URLs beyond the quota of their signature get a lower score; published: similar URLs are dropped.',
    ),
  quota: z.number().int().min(1).default(50).describe('defer: URLs of a signature that enter like others.'),
  demote: z.number().gt(0).lt(1).default(0.1).describe('defer: factor on the score of a URL beyond the quota.'),
  maxSignatures: z
    .number()
    .int()
    .min(1)
    .default(1_000_000)
    .describe('defer: most signatures counted, about 100 bytes each; URLs of further ones are let in.'),
  urls: z.number().int().min(1).default(1_000_000).describe('published: number of URLs expected (k).'),
  falsePositives: z.number().gt(0).lt(1).default(0.01).describe('published: false positive rate (P).'),
  features: z
    .array(z.string().refine((name) => featureNamed(name) !== undefined, FEATURE))
    .min(1)
    .default(['site', 'depth', 'directory', 'tail'])
    .describe('published: features of a URL, each with its own part of the filter.'),
});

export default definePlugin({
  name: 'urlfilter-similarity',
  api: 1,
  options,
  setup: (_host, given) => (given.mode === 'defer' ? quotaFilter(given) : publishedFilter(given)),
});

type Options = z.infer<typeof options>;

function quotaFilter({ quota, demote, maxSignatures }: Options): UrlFilter {
  const counted = new SimilarQuota(quota, maxSignatures);
  return {
    filter: (url) => ({ accept: true, reason: `signature ${urlSignature(url)}` }),
    learn: (url) => void counted.add(url),
    admit: (url) =>
      counted.add(url)
        ? { admit: true, demote, reason: `similar URLs beyond the quota: ${urlSignature(url)}` }
        : { admit: true },
  };
}

function publishedFilter({ urls, falsePositives, features }: Options): UrlFilter {
  const { bitsPerPart } = featureSizing(urls, falsePositives, features.length);
  const md5 = (text: string): Uint8Array => createHash('md5').update(text).digest();
  const filter = new FeatureFilter({ features, bitsPerPart, md5 });
  return {
    filter: (url) => ({ accept: true, reason: `features ${filter.describe(url)}` }),
    learn: (url) => filter.add(url),
    admit: (url) =>
      filter.isSimilar(url)
        ? { admit: false, reason: `similar to known URLs: ${filter.describe(url)}` }
        : { admit: true },
  };
}
