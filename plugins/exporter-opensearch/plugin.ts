import { setTimeout as delay } from 'node:timers/promises';
import { addressOf, definePlugin } from 'incrawl/plugin';
import { z } from 'zod';
import { BulkSender, deleteAction, indexAction } from './bulk.ts';

const options = z.strictObject({
  url: z.string().optional().describe('Address of the index, `https://host:9200/pages`; `--output` overrides it.'),
  authorizationEnv: z
    .string()
    .min(1)
    .default('INCRAWL_SEARCH_AUTHORIZATION')
    .describe('Environment variable that holds the Authorization header, such as `Basic ..` or `ApiKey ..`.'),
  batchBytes: z
    .number()
    .int()
    .min(1)
    .default(5_000_000)
    .describe('Largest size of a bulk request, bytes, unless one page is larger.'),
  batchPages: z.number().int().min(1).default(1_000).describe('Most pages in a bulk request.'),
  retries: z.number().int().min(0).default(8).describe('Retries after broken connections, 429 and 5xx.'),
  firstPauseMs: z
    .number()
    .int()
    .min(0)
    .default(500)
    .describe('Pause before the first retry, doubled with each further one, ms.'),
  timeoutMs: z.number().int().min(1).default(60_000).describe('Time-out of a request, ms.'),
});
type Options = z.infer<typeof options>;

export default definePlugin<'exporter', Options>({
  name: 'exporter-opensearch',
  api: 1,
  options,
  setup: (host, given) => ({
    format: 'opensearch',
    fileExtension: 'ndjson',
    ...(given.url === undefined && { needsPlace: 'the URL of an index' }),
    open: ({ place, software }) => {
      const address = addressOf(place, given.url);
      if (!/^\/[^/]+\/?$/.test(address.pathname)) {
        throw new Error(`expected an address that ends in the name of an index, such as ${address.origin}/pages`);
      }
      const bulk = new URL(`${address.pathname.replace(/\/$/, '')}/_bulk`, address);
      // Limits the answer to the fields that are read.
      bulk.searchParams.set('filter_path', 'errors,items.*.status,items.*.error');
      const authorization = process.env[given.authorizationEnv];
      const headers = {
        'content-type': 'application/x-ndjson',
        'user-agent': software,
        ...(authorization !== undefined && authorization !== '' && { authorization }),
      };
      const { retries, firstPauseMs, timeoutMs, batchBytes, batchPages: batchActions } = given;
      const sender = new BulkSender(
        { url: bulk.href, headers: () => headers, retries, firstPauseMs, timeoutMs, batchBytes, batchActions },
        { now: host.now, random: Math.random, sleep: (ms) => delay(ms) },
      );
      return {
        document: (document) => sender.add(indexAction(document.url, document)),
        removed: ({ url }) => sender.add(deleteAction(url)),
        async close() {
          await sender.flush();
          if (sender.refused === 0) return;
          throw new Error(`the server refused ${sender.refused} documents: ${sender.reasons.join('; ')}`);
        },
      };
    },
  }),
});
