import type { ChangeView } from '../../crawler.ts';
import type { ChangeReaderOptions } from '../../operations/changes/change-reader.ts';
import type { ChangesQuery } from '../../operations/changes/changes.ts';
import { EXIT } from '../exit.ts';
import { listenForStop } from '../process/stop-signal.ts';
import { shortTime } from '../render/columns.ts';
import { safeText } from '../render/safe-text.ts';
import { sleepUntil } from '../schedule/sleep-until.ts';
import type { Session } from '../session.ts';

/** The pause between two looks at the files of the crawl db, ms. */
export const LOOK_EVERY_MS = 2_000;

/** Prints what is added to the feed as it comes, until a signal: a line for each change, JSON or for people. */
export async function follow(
  session: Session,
  reader: ChangeReaderOptions,
  query: Pick<ChangesQuery, 'kinds' | 'host' | 'minDistance'>,
  startOf: () => Promise<number>,
  asJson: boolean,
): Promise<number> {
  const { followChanges, isUnavailable } = await import('../../operations/changes/change-reader.ts');
  const stop = listenForStop(() => {});
  const sleep = (signal: AbortSignal): Promise<void> => sleepUntil(Date.now() + LOOK_EVERY_MS, signal);
  let isReported = false;
  const onUnavailable = (message: string): void => {
    if (!isReported) session.note(`${message}; its changes are shown when it answers.`);
    isReported = true;
  };
  const start = async (): Promise<number> => {
    for (;;) {
      try {
        return await startOf();
      } catch (error) {
        if (!isUnavailable(error) || stop.signal.aborted) throw error;
        onUnavailable((error as Error).message);
        await sleep(stop.signal);
      }
    }
  };
  try {
    for await (const { changes } of followChanges(reader, query, await start(), {
      signal: stop.signal,
      sleep,
      onUnavailable,
    })) {
      for (const change of changes) await session.out.write(asJson ? `${JSON.stringify(change)}\n` : lineOf(change));
      await session.out.flush();
      if (session.out.closed) break;
    }
    return EXIT.done;
  } finally {
    stop.release();
  }
}

function lineOf({ seq, at, kind, url, distance, target, title }: ChangeView): string {
  const what = distance === null ? kind : `${kind} (${distance} bits)`;
  const rest = target === null ? (title ?? '') : `-> ${target}`;
  return `${[String(seq), shortTime(at), what, safeText(url), safeText(rest)].join('  ').trimEnd()}\n`;
}
