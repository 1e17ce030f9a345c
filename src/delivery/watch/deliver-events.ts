// delivery/watch/: watched pages: what was seen of each, the events about them, and who is to hear of them.

import { type DeliveryDeps, deliverUntilTaken } from '../changes/deliver-changes.ts';
import type { WatchEvent } from './page-verdict.ts';
import type { Receiver, ReportedChange } from './receivers.ts';
import type { Delivered, WatchList } from './watch-list.ts';

export interface EventDeliveryDeps extends Pick<DeliveryDeps, 'now' | 'random' | 'sleep'> {
  /** Makes it durable what each receiver has taken. */
  readonly save: (delivered: Delivered) => void;
  readonly changeOf: (event: WatchEvent) => ReportedChange;
  readonly note: (text: string) => void;
}

/** Attempts after the first one that failed; the next look goes on. */
const RETRIES = 4;

/**
 * Delivers to each receiver the events that it has not taken yet, in order. A receiver that fails holds up no other.
 * Each event is delivered at least once: a kill between a delivery and its record repeats one message. Resolves with
 * whether all receivers have taken everything.
 */
export async function deliverEvents(
  deps: EventDeliveryDeps,
  { source, lastSeq, events }: Pick<WatchList, 'source' | 'lastSeq' | 'events'>,
  receivers: readonly Receiver[],
  before: Delivered,
  signal: AbortSignal,
): Promise<boolean> {
  let delivered = before;
  const record = (key: string, seq: number): void => {
    if (delivered[key] === seq) return;
    delivered = { ...delivered, [key]: seq };
    deps.save(delivered);
  };
  const toOne = async ({ key, name, batch, wants, deliver }: Receiver): Promise<boolean> => {
    const taken = before[key] ?? 0;
    const missed = Math.max(0, (events[0]?.seq ?? lastSeq + 1) - taken - 1);
    if (missed > 0) deps.note(`${missed} changes are no longer kept, and were not delivered to ${name}`);
    const pending = events.filter(({ seq, kind }) => seq > taken && wants(kind));
    for (let start = 0; start < pending.length; start += batch) {
      const part = pending.slice(start, start + batch);
      const [first, last] = [part[0] as WatchEvent, part.at(-1) as WatchEvent];
      const changes = part.map(deps.changeOf);
      const attempt = { deliver: ({ id }: { id: string }) => deliver(id, changes, signal) };
      const onRetry = (reason: string, pauseMs: number): void =>
        deps.note(`${name}: ${reason}; next attempt in ${Math.ceil(pauseMs / 1_000)} s`);
      const message = { id: `${source}_${first.seq}_${last.seq}`, body: '' };
      const sent = await deliverUntilTaken({ ...deps, webhook: attempt, onRetry }, message, RETRIES, signal);
      if (sent.failed !== null) {
        if (!signal.aborted) deps.note(`${name}: ${sent.failed.reason}. The next look delivers what is left.`);
        return false;
      }
      record(key, last.seq);
    }
    record(key, lastSeq);
    return true;
  };
  const ends = await Promise.all(receivers.map(toOne));
  return ends.every((isDone) => isDone);
}
