import { CrawlError } from '../../../domain/errors.ts';
import type { HostLanes, LaneTurn } from '../../../ports/host-lanes.ts';
import type { PartitionHold } from './partition-stores.ts';

/**
 * The lanes of a process for one partition: no request begins once another process may hold the partition, which then
 * asks its hosts. The lanes below are those of all partitions of the process, since a host is in one of them.
 * @param isOwn whether a host is of the partition: such hosts alone are among those that rest
 * @param onLost called before a task rejects with `lease-lost`
 */
export function heldLanes(
  lanes: HostLanes,
  isOwn: (host: string) => boolean,
  hold: Pick<PartitionHold, 'isHeld'>,
  onLost: () => void,
): HostLanes {
  const requireHeld = (): void => {
    if (hold.isHeld()) return;
    onLost();
    throw new CrawlError('lease-lost', 'the lease of the partition has ended; its hosts are asked by another worker');
  };
  return {
    run: (host, task, signal, latest) =>
      lanes.run(
        host,
        (turn) => {
          requireHeld();
          return task(heldTurn(turn, requireHeld));
        },
        signal,
        latest,
      ),
    setDelay: (host, delayMs) => lanes.setDelay(host, delayMs),
    ownDelayMs: (host) => lanes.ownDelayMs(host),
    pauseUntil: (host, at) => lanes.pauseUntil(host, at),
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
