import { createRequire } from 'node:module';
import { definePlugin, type Page } from 'incrawl/plugin';
import { z } from 'zod';

const require = createRequire(import.meta.url);

/** Whether cheerio can use it; the package is loaded only if this plugin is listed. */
function isSelector(text: string): boolean {
  try {
    (require('cheerio') as typeof import('cheerio')).load('')(text);
    return true;
  } catch {
    return false;
  }
}

const selector = z.string().min(1).max(1_000).refine(isSelector, 'expected a CSS selector, as in ".price > b"');

const options = z.strictObject({
  fields: z
    .record(
      z.string().regex(/^[\w-]{1,50}$/, 'expected a name of letters, digits, - and _'),
      z.union([selector, z.strictObject({ select: selector, attribute: z.string().min(1).max(100) })]),
    )
    .default({})
    .describe('What is read: a CSS selector, or `select` and the `attribute` of what it finds.'),
  maxChars: z.number().int().min(1).max(4_000).default(200).describe('Longer texts are cut, characters.'),
});

/** The first non-empty text, or attribute, of a matching element of the page. */
function fieldValue({ $ }: Page, field: z.infer<typeof options>['fields'][string]): string {
  const [select, attribute] = typeof field === 'string' ? [field, null] : [field.select, field.attribute];
  for (const element of $(select)) {
    const found = attribute === null ? $(element).text() : ($(element).attr(attribute) ?? '');
    const value = found.replace(/\s+/g, ' ').trim();
    if (value !== '') return value;
  }
  return '';
}

export default definePlugin({
  name: 'parsefilter-selectors',
  api: 1,
  options,
  setup: (_host, { fields, maxChars }) => {
    const all = Object.entries(fields);
    return {
      content: '',
      filter: (page) => {
        if (all.length === 0 || page.dom === null) return;
        for (const [name, field] of all) {
          const value = fieldValue(page, field).slice(0, maxChars);
          if (value !== '') page.result.metadata[`selectors.${name}`] = value;
        }
      },
    };
  },
});
