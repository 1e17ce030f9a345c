import { get } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createConnectionPools } from '../../../src/adapters/http/connection-pools.ts';
import { createGotProtocol } from '../../../src/adapters/http/got-protocol.ts';
import { fetchProtocolContract } from '../../contracts/fetch-protocol.contract.ts';
import { type HostileServer, startHostileServer } from '../../site/hostile-server.ts';
import { unknownIdentity } from '../../site/tls-identity.ts';

fetchProtocolContract('got', createGotProtocol);

describe('createGotProtocol', () => {
  const sites: HostileServer[] = [];
  const start = async (): Promise<HostileServer> => {
    const site = await startHostileServer();
    sites.push(site);
    return site;
  };
  afterEach(async () => {
    for (const site of sites.splice(0)) await site.close();
  });

  it('closes the connection idle for longest when there are too many', async () => {
    const protocol = createGotProtocol({ userAgent: 'exam', allowAddresses: ['127.0.0.1'], maxIdleSockets: 2 });
    const ask = ({ origin }: HostileServer): Promise<unknown> =>
      protocol.exchange({ url: `${origin}/ok`, method: 'GET', headers: {}, maxBodyBytes: 10_000, timeoutMs: 5000 });
    const [a, b, c] = [await start(), await start(), await start()];
    for (const site of [a, b, c, c, b, a]) await ask(site);
    expect([a.connections, b.connections, c.connections]).toEqual([2, 1, 1]);
    await protocol.close();
  });

  it('believes no certificate that nobody vouches for', async () => {
    let requests = 0;
    const server = createServer(unknownIdentity, (_request, response) => {
      requests++;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const protocol = createGotProtocol({ userAgent: 'exam', allowAddresses: ['127.0.0.1'] });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const asked = protocol.exchange({ url, method: 'GET', headers: {}, maxBodyBytes: 10_000, timeoutMs: 5000 });
    await expect(asked).rejects.toMatchObject({ code: 'tls-failed' });
    expect(requests).toBe(0);
    await protocol.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('refuses an allow list that cannot be read', () => {
    expect(() => createGotProtocol({ userAgent: 'exam', allowAddresses: ['10.0.0.0/99'] })).toThrow('"10.0.0.0/99"');
  });

  it('the agents are a guard of their own: an address that nobody let through is not connected to', async () => {
    const site = await start();
    const pools = createConnectionPools({
      allowAddresses: ['127.0.0.1'],
      maxSockets: 1,
      maxIdleSockets: 1,
      idleTimeoutMs: 1000,
    });
    const status = (): Promise<unknown> =>
      new Promise((resolve) => {
        get(`${site.origin}/ok`, { agent: pools.guarded.agent.http }, (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode));
        }).on('error', (error) => resolve(error.message));
      });
    expect(await status()).toContain('is not allowed');
    expect(pools.refusal(new URL(site.origin))).toBeNull();
    expect(await status()).toBe(200);
    pools.closeIdle();
  });
});
