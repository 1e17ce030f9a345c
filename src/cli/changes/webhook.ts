import { readFile } from 'node:fs/promises';
import { CrawlError } from '../../core/domain/errors.ts';
import type { WebhookDeliveryOptions, WebhookSummary } from '../../delivery/changes/webhook-delivery.ts';
import { EXIT } from '../../render/exit.ts';
import { counted } from '../../render/quantities.ts';
import { safeText } from '../../render/safe-text.ts';
import { withStopSignal } from '../process/stop-signal.ts';
import { writeAnswer } from '../program/write-answer.ts';
import type { Session } from '../session.ts';

/** The secret is no option: every user of the machine can read command lines. */
export const SECRET_VARIABLE = 'INCRAWL_WEBHOOK_SECRET';

/** Posts undelivered changes to a webhook, and prints a summary. */
export async function notifyWebhook(
  session: Session,
  options: Omit<WebhookDeliveryOptions, 'dir' | 'withFeed' | 'secret' | 'signal' | 'note'>,
  secretFile: string | undefined,
): Promise<number> {
  const { deliverToWebhook } = await import('../../delivery/changes/webhook-delivery.ts');
  const { clock } = session.surroundings;
  const secret = await secretOf(session, secretFile);
  if (secret === null) session.note(`Messages are not signed: set ${SECRET_VARIABLE} or --secret-file.`);
  const deliver = async (signal: AbortSignal): Promise<number> => {
    const summary = await deliverToWebhook({
      ...options,
      secret,
      dir: session.options.dir,
      withFeed: (use) => session.withReader(use),
      signal,
      ...(clock === undefined ? {} : { clock }),
      note: (text) => session.note(safeText(text)),
    });
    await writeAnswer(session, summary, () => textOf(summary));
    if (summary.failed !== null) return EXIT.error;
    return signal.aborted && options.follow === undefined ? EXIT.stopped : EXIT.done;
  };
  return withStopSignal(session.surroundings, () => {}, deliver);
}

/** Key of the signatures of webhooks; `null`: there is none. */
export async function secretOf(session: Session, file: string | undefined): Promise<string | null> {
  const named = session.surroundings.env[SECRET_VARIABLE];
  if (file === undefined) return named === undefined || named === '' ? null : named;
  const secret = (await readFile(file, 'utf8')).trim();
  if (secret === '') throw new CrawlError('usage-invalid', `${file} is empty: expected a secret`);
  return secret;
}

function textOf({ delivered, messages, cursor, failed }: WebhookSummary): string {
  const done = `${counted(delivered, 'change')} delivered in ${counted(messages, 'message')}, up to number ${cursor}.`;
  if (failed === null) return `${done}\n`;
  const next = failed.isFinal ? 'The receiver refuses further messages.' : 'The next run goes on from there.';
  return `${done} Then it failed: ${safeText(failed.reason)}. ${next}\n`;
}
