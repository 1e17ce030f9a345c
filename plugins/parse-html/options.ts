import { z } from 'zod';

export const optionsSchema = z.strictObject({
  /** Our name in robots `meta` elements and in `X-Robots-Tag`; by default that of the crawl. */
  agent: z
    .string()
    .regex(/^[\w-]+$/, 'expected a product token: letters, digits, - and _')
    .optional(),
  /** Elements nested deeper lie flat at this depth, as in browsers. */
  maxDepth: z.int().min(16).max(2000).default(512),
  maxAttributes: z.int().min(16).max(10_000).default(256),
  /** The page is cut off there. */
  maxNodes: z.int().min(1000).max(10_000_000).default(500_000),
  /** Distinct links kept. */
  maxLinks: z.int().min(0).max(1_000_000).default(10_000),
  /** Characters of text kept. */
  maxText: z.int().min(1000).max(100_000_000).default(1_000_000),
});
export type Options = z.infer<typeof optionsSchema>;
