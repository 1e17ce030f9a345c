import { createHash } from 'node:crypto';
import { definePlugin, type Page } from 'incrawl/plugin';
import { z } from 'zod';

const SOURCES = {
  body: ({ body }: Page) => body,
  text: ({ result }: Page) => folded(result.text),
  'main-text': ({ result }: Page) => folded(result.mainText ?? result.text),
} as const;

const folded = (text: string): string => text.replace(/\s+/gu, ' ').trim();

const options = z.strictObject({
  of: z
    .enum(['main-text', 'text', 'body'])
    .default('main-text')
    .describe(
      'What is digested: the main content, all visible text (white space folded in both), or the bytes of the body.',
    ),
});

export default definePlugin({
  name: 'signature-digest',
  api: 1,
  options,
  setup: (_host, { of }) => ({
    id: `digest64-${of}-v1`,
    sign: (page) => {
      const source = SOURCES[of](page);
      if (source.length === 0) return null;
      return createHash('sha256').update(source).digest('hex').slice(0, 16);
    },
  }),
});
