import { definePlugin } from 'incrawl/plugin';
import { createNormalizer } from './normalizer.ts';
import { optionsSchema } from './options.ts';
import { createExplainer } from './rules.ts';

export default definePlugin({
  name: 'urlnormalizer-basic',
  api: 1,
  options: optionsSchema,
  setup: (_host, options) => ({
    normalize: createNormalizer(options),
    explain: createExplainer(options),
  }),
});
