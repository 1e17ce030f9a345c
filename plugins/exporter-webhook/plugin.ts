import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { webhookHeaders } from 'incrawl/bundled';
import { addressOf, definePlugin, deliver, type ExportDocument, type RemovedPage } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  url: z.string().optional().describe('Address of the receiver; `--output` overrides it.'),
  secretEnv: z
    .string()
    .min(1)
    .default('INCRAWL_WEBHOOK_SECRET')
    .describe('Environment variable with the secret that signs messages: text, or `whsec_` and base64.'),
  batchBytes: z
    .number()
    .int()
    .min(1)
    .default(1_000_000)
    .describe('Largest size of a message, bytes, unless one page is larger.'),
  batchPages: z.number().int().min(1).default(100).describe('Most pages in a message.'),
  retries: z.number().int().min(0).default(8).describe('Retries after broken connections, 408, 429 and 5xx.'),
  firstPauseMs: z
    .number()
    .int()
    .min(0)
    .default(500)
    .describe('Pause before the first retry, doubled with each further one, ms.'),
  timeoutMs: z.number().int().min(1).default(30_000).describe('Time-out of a message, ms.'),
});
type Options = z.infer<typeof options>;

export default definePlugin<'exporter', Options>({
  name: 'exporter-webhook',
  api: 1,
  options,
  setup: (host, given) => ({
    format: 'webhook',
    fileExtension: 'json',
    ...(given.url === undefined && { needsPlace: 'a URL' }),
    open: ({ place, software }) => {
      const url = addressOf(place, given.url).href;
      const secret = process.env[given.secretEnv] || null;
      if (secret === null) host.log.warn(`messages go unsigned: ${given.secretEnv} signs them`);
      const deps = { now: host.now, random: Math.random, sleep: (ms: number) => delay(ms) };
      const sender = { userAgent: software, secret };
      const run = randomUUID();
      let message = 0;
      let pages: string[] = [];
      let deleted: string[] = [];
      let bytes = 0;

      async function flush(): Promise<void> {
        if (pages.length + deleted.length === 0) return;
        const body = `{"pages":[${pages.join(',')}],"deleted":[${deleted.join(',')}]}`;
        [pages, deleted, bytes] = [[], [], 0];
        const id = `${run}-${++message}`;
        await deliver({ ...given, url, body, headers: (at) => webhookHeaders({ id, at, body }, sender) }, deps);
      }

      async function add(list: 'pages' | 'deleted', entry: ExportDocument | RemovedPage): Promise<void> {
        const text = JSON.stringify(entry);
        const size = Buffer.byteLength(text);
        if (bytes + size > given.batchBytes || pages.length + deleted.length >= given.batchPages) await flush();
        (list === 'pages' ? pages : deleted).push(text);
        bytes += size;
      }

      return { document: (page) => add('pages', page), removed: (page) => add('deleted', page), close: flush };
    },
  }),
});
