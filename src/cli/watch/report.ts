import { summaryOf, type WatchEvent } from '../../delivery/watch/page-verdict.ts';
import type { Receiver, ReportedChange } from '../../delivery/watch/receivers.ts';
import { shortTime } from '../../render/columns.ts';
import { printedJson, safeText } from '../../render/safe-text.ts';
import { placeTexts } from '../../render/text/diff-text.ts';
import type { Session } from '../session.ts';

const PLAIN = { bold: (text: string) => text, color: (_color: unknown, text: string) => text };

/** An event as receivers get it, with its difference as text. */
export const reportedChange = (event: WatchEvent): ReportedChange => ({
  ...event,
  summary: summaryOf(event),
  diff: placeTexts(event.places ?? [], PLAIN).join('\n\n'),
});

/** Standard output as a receiver: a line of JSON for each event, or a line and the coloured difference. */
export function standardOutput(session: Session): Receiver {
  const { out, options, json } = session;
  return {
    key: 'stdout',
    name: 'standard output',
    batch: 1,
    wants: (kind) => json || !(options.quiet && kind === 'new'),
    async deliver(_id, changes) {
      for (const change of changes) await out.write(json ? `${printedJson(change)}\n` : changeText(session, change));
      await out.flush();
      if (!out.closed) return { isTaken: true, status: 0 };
      return { isTaken: false, status: null, reason: 'nobody reads it any more', retryAfterMs: null, isFinal: true };
    },
  };
}

function changeText({ bold, color }: Session, { at, url, summary, places }: ReportedChange): string {
  const diff = placeTexts(places ?? [], { bold: (text) => color('gray', text), color });
  const head = `${shortTime(at)} UTC  ${bold(safeText(url))}  ${safeText(summary)}`;
  return `${[head, ...diff.map(indented)].join('\n')}\n${diff.length > 0 ? '\n' : ''}`;
}

const indented = (text: string): string => text.replace(/^/gm, '  ');
