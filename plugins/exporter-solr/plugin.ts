import { setTimeout as delay } from 'node:timers/promises';
import { addressOf, definePlugin } from 'incrawl/plugin';
import { z } from 'zod';
import { documentOf } from './documents.ts';
import { UpdateSender } from './update.ts';

const options = z.strictObject({
  url: z
    .string()
    .optional()
    .describe('Address of the core or collection, `https://host:8983/solr/pages`; `--output` overrides it.'),
  authorizationEnv: z
    .string()
    .min(1)
    .default('INCRAWL_SOLR_AUTHORIZATION')
    .describe('Environment variable that holds the Authorization header, such as `Basic ..`.'),
  idField: z.string().min(1).default('id').describe('Unique key of the index; it holds the URL.'),
  fields: z
    .record(z.string(), z.string().min(1).nullable())
    .default({})
    .describe('Other names for fields, `{ text: content }`; `null` leaves a field out.'),
  commitWithinMs: z
    .number()
    .int()
    .min(0)
    .default(10_000)
    .describe('Time within which updates can be searched, ms; 0 leaves commits to the server.'),
  batchBytes: z
    .number()
    .int()
    .min(1)
    .default(5_000_000)
    .describe('Largest size of a request, bytes, unless one page is larger.'),
  batchPages: z.number().int().min(1).default(1_000).describe('Most pages in a request.'),
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
  name: 'exporter-solr',
  api: 1,
  options,
  setup: (host, given) => ({
    format: 'solr',
    fileExtension: 'json',
    ...(given.url === undefined && { needsPlace: 'the URL of a core or collection' }),
    open: ({ place, software }) => {
      const address = addressOf(place, given.url);
      const update = updateAddress(address, given.commitWithinMs);
      const authorization = process.env[given.authorizationEnv];
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': software,
        ...(authorization !== undefined && authorization !== '' && { authorization }),
      };
      const { retries, firstPauseMs, timeoutMs, batchBytes, batchPages } = given;
      const sender = new UpdateSender(
        { url: update, headers: () => headers, retries, firstPauseMs, timeoutMs, batchBytes, batchPages },
        { now: host.now, random: Math.random, sleep: (ms) => delay(ms) },
      );
      return {
        document: (document) => sender.add(document.url, documentOf(document, given)),
        removed: ({ url }) => sender.remove(url),
        async close() {
          await sender.flush();
          if (sender.refused > 0) throw new Error(sender.refusal());
        },
      };
    },
  }),
});

/** The update handler below the address of a core; its parameters, such as a processor chain, stay. */
function updateAddress(core: URL, commitWithinMs: number): string {
  const path = core.pathname.replace(/\/+$/, '');
  if (!/\/[^/]+\/[^/]+$/.test(path)) {
    throw new Error(`expected an address that ends in the name of a core, such as ${core.origin}/solr/pages`);
  }
  const update = new URL(`${path}/update${core.search}`, core);
  update.searchParams.set('wt', 'json');
  if (commitWithinMs > 0) update.searchParams.set('commitWithin', String(commitWithinMs));
  return update.href;
}
