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
  hostWaitMs: duration({
    default: '1h',
    min: '1s',
    max: '10d',
    prose:
      'Longest wait for the next turn of a host while nothing else is to be fetched. A crawl whose due URLs are all of ' +
      'hosts that must not be contacted for longer than this ends, and says which and when; the next run goes on.',
  }),
});
