import { readFile } from 'node:fs/promises';
import { CrawlError } from '../../domain/errors.ts';
import type { WebhookDeliveryOptions, WebhookSummary } from '../../operations/changes/webhook-delivery.ts';
import { EXIT } from '../exit.ts';
import { listenForStop } from '../process/stop-signal.ts';
import { count } from '../render/quantities.ts';
import { safeText } from '../render/safe-text.ts';
import type { Session } from '../session.ts';

/** A secret has no place on a command line, which every user of the machine can read. */
export const SECRET_VARIABLE = 'INCRAWL_WEBHOOK_SECRET';

/** Tells a webhook what it has not been told yet, and says how far it came. */
export async function tellWebhook(
  session: Session,
  options: Omit<WebhookDeliveryOptions, 'dir' | 'withFeed' | 'secret' | 'signal' | 'note'>,
  secretFile: string | undefined,
): Promise<number> {
  const { deliverToWebhook } = await import('../../operations/changes/webhook-delivery.ts');
  const secret = await secretOf(session, secretFile);
  if (secret === null) session.note(`Messages go unsigned: ${SECRET_VARIABLE} or --secret-file signs them.`);
  const stop = listenForStop(() => {});
  try {
    const summary = await deliverToWebhook({
      ...options,
      secret,
      dir: session.options.dir,
      withFeed: (use) => session.withReader(use),
      signal: stop.signal,
      note: (text) => session.note(safeText(text)),
    });
    await session.out.write(session.json ? `${JSON.stringify(summary)}\n` : textOf(summary));
    if (summary.failed !== null) return EXIT.error;
    return stop.signal.aborted && options.follow === undefined ? EXIT.stopped : EXIT.done;
  } finally {
    stop.release();
  }
}

async function secretOf(session: Session, file: string | undefined): Promise<string | null> {
  const named = session.surroundings.env[SECRET_VARIABLE];
  if (file === undefined) return named === undefined || named === '' ? null : named;
  const secret = (await readFile(file, 'utf8')).trim();
  if (secret === '') throw new CrawlError('usage-invalid', `${file} is empty; a secret was expected`);
  return secret;
}

function textOf({ delivered, messages, cursor, failed }: WebhookSummary): string {
  const reported = `${count(delivered)} changes told in ${count(messages)} messages, up to number ${cursor}.`;
  if (failed === null) return `${reported}\n`;
  const next = failed.isFinal ? 'The receiver wants no more.' : 'The next run goes on there.';
  return `${reported} Then it failed: ${safeText(failed.reason)}. ${next}\n`;
}
