import { definePlugin, MAX_URL_LENGTH } from 'incrawl/plugin';
import { z } from 'zod';
import { DEFAULT_RULES } from './default-rules.ts';
import { createRuleFilter } from './rule-filter.ts';
import { readRules } from './rules.ts';

const optionsSchema = z.strictObject({
  file: z
    .string()
    .min(1)
    .optional()
    .describe("File with rules, relative to the configuration's folder. Default: the bundled rules."),
  maxUrlLength: z
    .int()
    .min(64)
    .max(MAX_URL_LENGTH)
    .default(MAX_URL_LENGTH)
    .describe('Longer URLs are kept out, characters.'),
});

export default definePlugin({
  name: 'urlfilter-rules',
  api: 1,
  options: optionsSchema,
  setup(host, { file, maxUrlLength }) {
    const text = file === undefined ? DEFAULT_RULES : host.readTextFile(file);
    const { rules, warnings } = readRules(text, file ?? 'bundled rules');
    for (const warning of warnings) host.log.warn(warning);
    return createRuleFilter(rules, maxUrlLength);
  },
});
