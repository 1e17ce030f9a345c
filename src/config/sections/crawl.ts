/** Section of the configuration: the loop of rounds. */
import { z } from 'zod';
import { duration } from '../fields.ts';

export const crawl = z.strictObject({
  pauseMs: duration({
    default: '0s',
    min: '0s',
    max: '365d',
    prose: 'Pause between two rounds of a crawl, while any URL is due. 0: rounds follow one another at once.',
  }),
});
