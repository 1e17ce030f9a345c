import { CrawlError } from '../../../core/domain/errors.ts';
import { ROW } from '../codecs/keys.ts';
import { existMany, type Rows } from '../rows.ts';

/** Present while a repair is under way. After a crash of the repair it keeps the db from opening. */
export const REPAIRING_KEY = `${ROW.meta}repairing`;

/** Whether a repair was begun and not ended. */
export async function isHalfRepaired(rows: Rows): Promise<boolean> {
  return (await existMany(rows, [REPAIRING_KEY]))[0] === true;
}

/** Rejects with `db-corrupt` when a repair was cut short. */
export async function refuseHalfRepaired(rows: Rows, dir: string): Promise<void> {
  if (await isHalfRepaired(rows)) {
    throw new CrawlError('db-corrupt', `the repair of ${dir} was cut short; "incrawl repair" begins it again`);
  }
}
