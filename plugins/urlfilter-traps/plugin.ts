import { definePlugin } from 'incrawl/plugin';
import { optionsSchema } from './options.ts';
import { createTrapFilter } from './traps.ts';

export default definePlugin({
  name: 'urlfilter-traps',
  api: 1,
  options: optionsSchema,
  setup: (host, options) => createTrapFilter(options, () => new Date(host.now()).getUTCFullYear()),
});
