import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';
import { openWacz } from './wacz.ts';

const options = z.strictObject({
  title: z.string().default('').describe('Title of the archive, for people; empty: none.'),
  text: z
    .boolean()
    .default(true)
    .describe('The texts of the pages are in the list of pages, so that they can be searched.'),
});

export default definePlugin<'exporter', z.infer<typeof options>>({
  name: 'exporter-wacz',
  api: 1,
  options,
  setup: (host, given) => ({
    format: 'wacz',
    fileExtension: 'wacz',
    needsPlace: 'a file',
    open: (target) => openWacz(target, { ...given, now: host.now() }),
  }),
});
