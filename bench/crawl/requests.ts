import { Agent, get } from 'node:http';
import type { FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import { createGotProtocol } from '../../src/http/exchange/got-protocol.ts';
import { createUndiciProtocol } from '../../src/transports/undici/undici-protocol.ts';
import { cpuUs, inTurn, median } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { CRAWLING } from './measured-crawl.ts';
import { siteOf, startSite } from './site-process.ts';

/** Requests in one turn, turns of each that count, turns before that. */
const REQUESTS = 400;
const TURNS = 9;
const WARM_UP_TURNS = 3;

type Ask = (headers: Record<string, string>) => Promise<unknown>;

/**
 * CPU of one request through each protocol plugin, of the whole process, compared with `node:http` alone: a page of the
 * site over and over on one connection, with its entity tag and without. The three take turns.
 */
export const requests = measurement('crawls', CRAWLING, async ({ question }, options) => {
  const site = await startSite(siteOf({ ...options, pages: 50 }));
  const settings = { userAgent: 'bench/1', allowAddresses: ['127.0.0.0/8'] };
  const [got, undici] = [createGotProtocol(settings), await createUndiciProtocol(settings)];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  // It has an entity tag.
  const url = `${site.origins[0]}/page/0.html`;
  const known = await fetch(url);
  await known.arrayBuffer();
  const through =
    (protocol: FetchProtocol): Ask =>
    (headers) =>
      protocol.exchange({ url, method: 'GET', headers, maxBodyBytes: 1 << 20, timeoutMs: 30_000 });
  const ways: Readonly<Record<string, Ask>> = {
    got: through(got),
    undici: through(undici),
    'node:http alone': (headers) =>
      new Promise((resolve, reject) => {
        get(url, { agent, headers }, (response) => response.on('end', resolve).resume()).on('error', reject);
      }),
  };
  const note = question('One request');
  for (const [answer, headers] of [
    ['304', { 'if-none-match': known.headers.get('etag') ?? '' }],
    ['36 KB', {}],
  ] as const) {
    const turns = await inTurn(Object.keys(ways), WARM_UP_TURNS + TURNS, (way) =>
      cpuUs(async () => {
        for (let n = 0; n < REQUESTS; n++) await ways[way]?.(headers);
      }),
    );
    for (const [way, us] of turns)
      note(`CPU of an answer of ${answer}, ${way}`, median(us.slice(WARM_UP_TURNS)) / REQUESTS, 'us');
  }
  agent.destroy();
  await got.close();
  await undici.close();
  site.close();
});
