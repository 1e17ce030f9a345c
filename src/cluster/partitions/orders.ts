import type { Order } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { RetryQuery, TouchQuery } from '../../core/steps/bring-forward.ts';
import { applyJudged, type JudgedCopy } from '../../core/steps/update/judged-copies.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { revisitOperations } from '../../operations/loop/revisit-operations.ts';

type Carry<Args extends unknown[]> = (deps: CrawlDeps, ...args: Args) => Promise<object>;
const order = <Args extends unknown[]>(carry: Carry<Args>): Carry<Args> => carry;

/**
 * What the holder of a partition does for other processes. Arguments are plain data. An order may be carried out twice,
 * if the holder dies before it is noted as done.
 */
const ORDERS = {
  touch: order((deps, urls: readonly string[], at: number) => revisitOperations(deps).touch(urls, { at })),
  touchMatching: order((deps, query: TouchQuery, at: number) => revisitOperations(deps).touchMatching(query, { at })),
  judge: order((deps, judged: readonly JudgedCopy[]) =>
    applyJudged({ db: deps.store().db, now: deps.runtime.clock.now() }, judged),
  ),
  retry: order((deps, query: RetryQuery) => revisitOperations(deps).retry(query)),
};

export type OrderName = keyof typeof ORDERS;
export type OrderArgs<Name extends OrderName> =
  Parameters<(typeof ORDERS)[Name]> extends [CrawlDeps, ...infer Args] ? Args : never;

/**
 * An order that cannot be carried out, as with bad arguments, is dropped with a warning: it would stop the partition.
 */
export async function carryOut(deps: CrawlDeps, { command, args }: Order): Promise<void> {
  const { log } = deps.runtime;
  const carry = Object.hasOwn(ORDERS, command) ? (ORDERS[command as OrderName] as Carry<unknown[]>) : null;
  try {
    if (carry === null) throw new CrawlError('usage-invalid', 'this version of incrawl does not know it');
    const summary = await carry(deps, ...args);
    log.info(`${command}: carried out for another process`, { dir: deps.dir, ...summary });
  } catch (error) {
    if (!(error instanceof CrawlError) || error.code !== 'usage-invalid') throw error;
    log.warn(`${command}: not carried out for another process`, { dir: deps.dir, error: error.message });
  }
}
