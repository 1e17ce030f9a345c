import { get } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createGotProtocol } from '../../src/http/exchange/got-protocol.ts';
import { createConnectionPools } from '../../src/http/guard/connection-pools.ts';
import { fetchProtocolContract } from '../contracts/fetch-protocol.contract.ts';
import { type HostileServer, startHostileServer } from '../site/hostile-server.ts';

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

  it('the agents are a guard of their own: an address that was not permitted is not connected to', async () => {
    const site = await start();
    const pools = createConnectionPools({
      allowAddresses: ['127.0.0.1'],
      maxSockets: 1,
      maxIdleSockets: 1,
      idleTimeoutMs: 1000,
      attemptTimeoutMs: 1000,
    });
    const status = (host: string): Promise<unknown> =>
      new Promise((resolve) => {
        get(`http://${host}:${new URL(site.origin).port}/ok`, { agent: pools.guarded.agent.http }, (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode));
        }).on('error', (error) => resolve(error.message));
      });
    expect(await status('127.0.0.2')).toContain('is not allowed');
    expect(pools.refusal(new URL(site.origin))).toBeNull();
    expect(await status('127.0.0.1')).toBe(200);
    expect(await status('127.0.0.2')).toContain('is not allowed');
    pools.closeIdle();
  });
});
