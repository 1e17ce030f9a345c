import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import type { WebhookCursor, WebhookCursors } from '../../core/ports/webhook.ts';
import { fileError, replaceFile } from './durable-file.ts';

/** Version of the file; a change that older versions cannot read raises it. */
const VERSION = 1;

/** One small file per webhook, named by a digest of its URL: URLs of webhooks are secrets, and are not stored. */
export function createWebhookCursors(dir: string): WebhookCursors {
  const fileOf = (url: string): string =>
    join(dir, `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`);
  return {
    async load(url) {
      const file = fileOf(url);
      let text: string;
      try {
        text = readFileSync(file, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw fileError(file, error);
      }
      return cursorOf(file, text);
    },
    async save(url, { source, seq, begun }) {
      mkdirSync(dir, { recursive: true });
      replaceFile(fileOf(url), `${JSON.stringify({ version: VERSION, source, seq, begun })}\n`);
    },
  };
}

function cursorOf(file: string, text: string): WebhookCursor {
  const refuse = (what: string): never => {
    throw new CrawlError('usage-invalid', `${file}: ${what}; --since N says where to begin once it is removed`);
  };
  let stored: Partial<WebhookCursor & { version: number }> | null;
  try {
    stored = JSON.parse(text) as typeof stored;
  } catch {
    return refuse('a JSON object was expected');
  }
  const { version, source, seq, begun } = stored ?? {};
  if (typeof version === 'number' && version > VERSION) return refuse(`version ${version} is of a newer incrawl`);
  if (typeof source !== 'string' || !Number.isSafeInteger(seq)) return refuse('source and seq were expected');
  return { source, seq: seq as number, ...(Number.isSafeInteger(begun) ? { begun: begun as number } : {}) };
}

/** A random, unique name for this crawl. */
export const newSource = (): string => randomBytes(6).toString('hex');
