import { z } from 'zod';
import type { ChangeBelief } from '../../core/domain/crawl/change/change-belief.ts';
import { GROUPS } from '../../core/domain/crawl/hazard/expectation.ts';
import { type HostClock, MAX_EPOCHS } from '../../core/domain/crawl/hazard/host-clock.ts';

const amount = z.number().nonnegative();
const number = z.number();
const time = z.number().finite();
const group = z
  .number()
  .int()
  .min(0)
  .max(GROUPS - 1);

const level = z.strictObject({ changes: amount, watchedMs: amount, observedMs: amount, at: time.nullable() });

/** How the pages of a host were seen to change, as a dump holds it. */
export const hostClock = z.strictObject({
  level,
  groups: z.array(z.strictObject({ number: group, level, pages: z.number().int().nonnegative(), lookedAt: time })),
  epochs: z
    .array(
      z.strictObject({
        from: time,
        to: time,
        found: z.array(z.strictObject({ group, observed: amount, expected: amount, visits: amount })),
      }),
    )
    .max(MAX_EPOCHS),
}) satisfies z.ZodType<HostClock>;

/** What the visits of a page have shown of its changes, as a dump holds it. */
export const changeBelief = z.strictObject({
  changes: number,
  watchedMs: number,
  newUrls: number,
  noise: number,
  mostMs: number.nullable(),
}) satisfies z.ZodType<ChangeBelief>;
