import { MAX_URL_LENGTH } from 'incrawl/plugin';
import { z } from 'zod';

/** A limit that `0` switches off. */
const limit = (preset: number, max: number, prose: string): z.ZodDefault<z.ZodInt> =>
  z.int().min(0).max(max).default(preset).describe(`${prose} 0: no limit.`);

export const optionsSchema = z.strictObject({
  maxLength: limit(1_500, MAX_URL_LENGTH, 'Longer URLs are kept out, characters.'),
  maxSegments: limit(20, 1_000, 'URLs with more path segments are kept out.'),
  maxRunRepeats: limit(
    2,
    100,
    'Most repeats in a row of a run of segments: /a/b/a/b is two. Numbers and single characters do not count.',
  ),
  maxSegmentRepeats: limit(
    3,
    100,
    'Most occurrences of a segment in a path. Numbers and single characters do not count.',
  ),
  maxParams: limit(30, 1_000, 'URLs with more query parameters are kept out.'),
  maxParamRepeats: limit(3, 100, 'Most occurrences of one name=value in a query.'),
  maxYearsAhead: limit(
    2,
    1_000,
    'Calendars: URLs with a date farther in the future are kept out, years. ' +
      'Dates: /2031/05/ in the path, year=2031 or date=2031-05-01 in the query.',
  ),
  maxYearsBack: limit(150, 3_000, 'Calendars: as maxYearsAhead, for the past.'),
});

export type Options = z.infer<typeof optionsSchema>;
