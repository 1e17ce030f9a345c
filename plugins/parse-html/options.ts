import { z } from 'zod';

export const optionsSchema = z.strictObject({
  /** Product token matched in robots `meta` elements and in `X-Robots-Tag`; default: that of the crawl. */
  agent: z
    .string()
    .regex(/^[\w-]+$/, 'expected a product token: letters, digits, - and _')
    .optional(),
  /** Deeper elements become siblings at this depth, as in browsers. */
  maxDepth: z.int().min(16).max(2000).default(512),
  maxAttributes: z.int().min(16).max(10_000).default(256),
  /** Nodes of a page; the rest is cut off. */
  maxNodes: z.int().min(1000).max(10_000_000).default(500_000),
  /** Distinct links kept. */
  maxLinks: z.int().min(0).max(1_000_000).default(10_000),
  /** Characters of text kept. */
  maxText: z.int().min(1000).max(100_000_000).default(1_000_000),
});
export type Options = z.infer<typeof optionsSchema>;
