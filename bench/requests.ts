/** What one request costs through the protocol of the crawl, CPU microseconds of the whole process, and beside it through `node:http` alone. */
import { Agent, get } from 'node:http';
import { createGotProtocol } from '../src/adapters/http/got-protocol.ts';

const WARM_UP = 1_000;
const REQUESTS = 5_000;

/** A page of the bench site, asked for over and over on one connection: with its entity tag, and without. */
export async function benchRequests(say: (text: string) => void, origins: readonly string[]): Promise<void> {
  const protocol = createGotProtocol({ userAgent: 'bench/1', allowAddresses: ['127.0.0.0/8'] });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  // It has an entity tag.
  const url = `${origins[0]}/page/0.html`;
  const known = await fetch(url);
  await known.arrayBuffer();
  const tagged = { 'if-none-match': known.headers.get('etag') ?? '' };
  const ask = (headers: Record<string, string>) => (): Promise<unknown> =>
    protocol.exchange({ url, method: 'GET', headers, maxBodyBytes: 1 << 20, timeoutMs: 30_000 });
  const plain = (headers: Record<string, string>) => (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      get(url, { agent, headers }, (response) => response.on('end', resolve).resume()).on('error', reject);
    });
  for (const [name, headers] of [
    ['answered by 304', tagged],
    ['36 KB', {}],
  ] as const) {
    const ours = await cpuUs(ask(headers));
    const bare = await cpuUs(plain(headers));
    say(`request, ${name.padEnd(16)} ${ours.toFixed(0)} us CPU; by node:http alone ${bare.toFixed(0)} us`);
  }
  agent.destroy();
  await protocol.close();
}

async function cpuUs(request: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < WARM_UP; i++) await request();
  const before = process.cpuUsage();
  for (let i = 0; i < REQUESTS; i++) await request();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
}
