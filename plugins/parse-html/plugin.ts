import { definePlugin } from 'incrawl/plugin';
import { type Options, optionsSchema } from './options.ts';
import { HtmlReader } from './parse-html.ts';

export default definePlugin<'parse', Options>({
  name: 'parse-html',
  api: 1,
  options: optionsSchema,
  setup: (host, options) => {
    const reader = new HtmlReader({ ...options, agent: (options.agent ?? host.agent).toLowerCase(), now: host.now });
    return {
      types: ['text/html', 'application/xhtml+xml'],
      content: 'html1',
      parse: (page) => reader.read(page),
    };
  },
});
