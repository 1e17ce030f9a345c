import { z } from 'zod';
import { MAX_INPUTS, type RenderedCopy, type RenderTrials } from '../../core/domain/crawl/rendering/render-trials.ts';

const text = z.string().nullable();

/** What a rendered copy was made from, as a dump holds it. */
export const renderedCopy = z.strictObject({
  digest: z.string(),
  inputs: z
    .array(z.strictObject({ url: z.string(), etag: text, lastModified: text, digest: z.string() }))
    .max(MAX_INPUTS),
}) satisfies z.ZodType<RenderedCopy>;

const count = z.number().int().nonnegative();

/** What rendering has shown of a host, as a dump holds it. */
export const renderTrials = z.strictObject({
  pattern: z.string(),
  renders: count,
  gains: count,
  misses: count,
  at: z.number().finite(),
}) satisfies z.ZodType<RenderTrials>;
