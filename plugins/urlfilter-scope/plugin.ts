import { definePlugin } from 'incrawl/plugin';
import { optionsSchema } from './options.ts';
import { createScopeFilter } from './scope.ts';

export default definePlugin({
  name: 'urlfilter-scope',
  api: 1,
  options: optionsSchema,
  setup: (_host, options) => createScopeFilter(options),
});
