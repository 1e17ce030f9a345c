// cli/changes/: the change feed, followed and sent to webhooks.

import type { FeedCursor } from '../../core/domain/crawl/change/change-feed.ts';
import type { ChangeView } from '../../crawler/index.ts';
import type { ChangeReaderOptions } from '../../delivery/changes/change-reader.ts';
import type { ChangesFilter } from '../../delivery/changes/changes.ts';
import { shortTime } from '../../render/columns.ts';
import { EXIT } from '../../render/exit.ts';
import { printedJson, safeText } from '../../render/safe-text.ts';
import { withStopSignal } from '../process/stop-signal.ts';
import type { Session } from '../session.ts';

/** Pause between two polls of the change feed, ms. */
export const POLL_MS = 2_000;

export interface FollowEnds {
  readonly startOf: () => Promise<FeedCursor>;
  /** Called when all entries up to there have been printed. */
  readonly onRead: (through: FeedCursor) => void;
}

/** Prints new entries of the feed until a signal, one line each: JSON, or text for people. */
export async function follow(
  session: Session,
  reader: ChangeReaderOptions,
  query: ChangesFilter,
  { startOf, onRead }: FollowEnds,
  asJson: boolean,
): Promise<number> {
  const { followChanges, isUnavailable } = await import('../../delivery/changes/change-reader.ts');
  const sleep = (signal: AbortSignal): Promise<void> => session.sleepUntil(session.now() + POLL_MS, signal);
  let isReported = false;
  const onUnavailable = (message: string): void => {
    if (!isReported) session.note(`${message}. New changes are shown as soon as it can be read.`);
    isReported = true;
  };
  const start = async (signal: AbortSignal): Promise<FeedCursor> => {
    for (;;) {
      try {
        return await startOf();
      } catch (error) {
        if (!isUnavailable(error) || signal.aborted) throw error;
        onUnavailable((error as Error).message);
        await sleep(signal);
      }
    }
  };
  const print = async (signal: AbortSignal): Promise<void> => {
    const options = { signal, sleep, onUnavailable };
    for await (const { changes, through } of followChanges(reader, query, await start(signal), options)) {
      for (const change of changes) await session.out.write(asJson ? `${printedJson(change)}\n` : lineOf(change));
      await session.out.flush();
      if (session.out.closed) break;
      onRead(through);
    }
  };
  await withStopSignal(session.surroundings, () => {}, print);
  return EXIT.done;
}

function lineOf({ seq, partition, at, kind, url, distance, target, title }: ChangeView): string {
  const what = distance === null ? kind : `${kind} (${distance} bits)`;
  const rest = target === null ? (title ?? '') : `-> ${target}`;
  return `${[partition === undefined ? String(seq) : `${partition}:${seq}`, shortTime(at), what, safeText(url), safeText(rest)].join('  ').trimEnd()}\n`;
}
