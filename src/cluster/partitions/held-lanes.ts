import { CrawlError } from '../../core/domain/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { FetchProtocol } from '../../core/ports/fetch-protocol.ts';
import type { HostLanes, LaneTurn } from '../../core/ports/host-lanes.ts';
import type { PartitionHold } from './partition-stores.ts';

export interface HeldLanesDeps {
  /** Whether a host belongs to the partition: only such hosts are listed as resting. */
  isOwn(host: string): boolean;
  readonly hold: Pick<PartitionHold, 'isHeld'>;
  readonly clock: Clock;
  /**
   * No host is requested before this time, ms since the epoch. If the last holder did not give the partition back, it
   * is unknown which hosts were requested last, and when.
   */
  readonly rest: { readonly until: number };
  /** Called before a task rejects with `lease-lost`. */
  onLost(): void;
}

/**
 * The lanes of a process for one partition: no request begins once another process may hold the partition and request
 * its hosts. The lanes underneath serve all partitions of the process, because a host belongs to only one of them.
 */
export function heldLanes(lanes: HostLanes, { isOwn, hold, clock, rest, onLost }: HeldLanesDeps): HostLanes {
  const requireHeld = (): void => {
    if (hold.isHeld()) return;
    onLost();
    throw leaseLost();
  };
  return {
    run(host, task, signal, latest) {
      if (rest.until > clock.now()) lanes.pauseUntil(host, rest.until);
      return lanes.run(
        host,
        (turn) => {
          requireHeld();
          return task(heldTurn(turn, requireHeld));
        },
        signal,
        latest,
      );
    },
    setDelay: (host, delayMs) => lanes.setDelay(host, delayMs),
    ownDelayMs: (host) => lanes.ownDelayMs(host),
    pauseUntil: (host, at) => lanes.pauseUntil(host, at),
    lengthenDelay: (host, delayMs) => lanes.lengthenDelay(host, delayMs),
    hold: () => lanes.hold(),
    release: () => lanes.release(),
    get running() {
      return lanes.running;
    },
    get size() {
      return lanes.size;
    },
    sizeOf: (host) => lanes.sizeOf(host),
    busiest: (limit) => lanes.busiest(limit),
    resting: () => lanes.resting().filter(([host]) => isOwn(host)),
    onIdle: () => lanes.onIdle(),
  };
}

const heldTurn = (turn: LaneTurn, requireHeld: () => void): LaneTurn => ({
  spare: () => turn.spare(),
  async next() {
    await turn.next();
    requireHeld();
  },
});

const leaseLost = (): CrawlError =>
  new CrawlError('lease-lost', 'the lease of the partition has ended; its hosts are asked by another worker');

/**
 * Sends the requests of one partition through the protocols of the process. A process that was paused between the turn
 * of a host and its request may have lost the partition by then, so the lease is checked again just before the request
 * goes out. If it is lost, nothing is sent, and the exchange rejects with `lease-lost`, which is no fault of the page.
 */
export const heldProtocol =
  ({ hold, onLost }: Pick<HeldLanesDeps, 'hold' | 'onLost'>) =>
  (inner: FetchProtocol): FetchProtocol => ({
    schemes: inner.schemes,
    async exchange(request) {
      const own = new AbortController();
      const onSend = (): void => {
        if (hold.isHeld()) return;
        onLost();
        own.abort(leaseLost());
      };
      const signal = request.signal === undefined ? own.signal : AbortSignal.any([request.signal, own.signal]);
      try {
        return await inner.exchange({ ...request, onSend, signal });
      } catch (error) {
        throw own.signal.aborted ? own.signal.reason : error;
      }
    },
    close: () => inner.close(),
  });
