import { createHash } from 'node:crypto';
import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';
import { textProfile } from './text-profile.ts';

const options = z.strictObject({
  minTokenLength: z.int().min(0).max(100).default(2).describe('Tokens of this length or less are ignored, characters.'),
  quantRate: z
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe('Counts are rounded down to multiples of this share of the largest one.'),
});

export default definePlugin({
  name: 'signature-text-profile',
  api: 1,
  options,
  setup: (_host, { minTokenLength, quantRate }) => ({
    id: `textprofile64-t${minTokenLength}-q${quantRate}-v1`,
    sign: ({ result }) => {
      const profile = textProfile(result.text, { minTokenLength, quantRate });
      return profile === '' ? null : createHash('md5').update(profile).digest('hex').slice(0, 16);
    },
  }),
});
