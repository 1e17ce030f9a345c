/**
 * CPU of one request through each protocol plugin, microseconds of the whole process, compared with `node:http` alone.
 */
import { Agent, get } from 'node:http';
import { createGotProtocol } from '../../src/adapters/http/exchange/got-protocol.ts';
import { createUndiciProtocol } from '../../src/adapters/http/exchange/undici-protocol.ts';
import type { FetchProtocol } from '../../src/ports/fetch-protocol.ts';

/** Requests in one turn, turns of each that count, turns before that. */
const REQUESTS = 400;
const TURNS = 9;
const WARM_UP_TURNS = 3;

type Ask = (headers: Record<string, string>) => Promise<unknown>;

/**
 * A page of the bench site, asked for over and over on one connection: with its entity tag, and without. The three take
 * turns; the median of each is reported.
 */
export async function benchRequests(say: (text: string) => void, origins: readonly string[]): Promise<void> {
  const settings = { userAgent: 'bench/1', allowAddresses: ['127.0.0.0/8'] };
  const got = createGotProtocol(settings);
  const undici = await createUndiciProtocol(settings);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  // It has an entity tag.
  const url = `${origins[0]}/page/0.html`;
  const known = await fetch(url);
  await known.arrayBuffer();
  const tagged = { 'if-none-match': known.headers.get('etag') ?? '' };
  const through =
    (protocol: FetchProtocol): Ask =>
    (headers) =>
      protocol.exchange({ url, method: 'GET', headers, maxBodyBytes: 1 << 20, timeoutMs: 30_000 });
  const plain: Ask = (headers) =>
    new Promise((resolve, reject) => {
      get(url, { agent, headers }, (response) => response.on('end', resolve).resume()).on('error', reject);
    });
  for (const [name, headers] of [
    ['answered by 304', tagged],
    ['36 KB', {}],
  ] as const) {
    const [byGot, byUndici, bare] = await medians([through(got), through(undici), plain], headers);
    say(`request, ${name.padEnd(16)} got ${byGot}, undici ${byUndici}, node:http alone ${bare} us CPU`);
  }
  agent.destroy();
  await got.close();
  await undici.close();
}

async function medians(asks: readonly Ask[], headers: Record<string, string>): Promise<string[]> {
  const turns: number[][] = asks.map(() => []);
  for (let turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
    for (const [i, ask] of asks.entries()) {
      const before = process.cpuUsage();
      for (let n = 0; n < REQUESTS; n++) await ask(headers);
      const { user, system } = process.cpuUsage(before);
      if (turn >= 0) turns[i]?.push((user + system) / REQUESTS);
    }
  }
  return turns.map((each) => each.sort((a, b) => a - b)[TURNS >> 1]?.toFixed(0) ?? '');
}
