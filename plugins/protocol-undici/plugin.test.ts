import type { FetchProtocol } from 'incrawl/plugin';
import { testHost, testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

it('offers the protocol that the host builds', async () => {
  const protocol: FetchProtocol = { ...testHost.http.createGotProtocol(), schemes: ['http', 'https'] };
  const asked: unknown[] = [];
  const createUndiciProtocol = async (options: unknown): Promise<FetchProtocol> => {
    asked.push(options);
    return protocol;
  };
  const host = { ...testHost, http: { ...testHost.http, createUndiciProtocol } };
  expect(plugin.name).toBe('protocol-undici');
  expect(await testPlugin(plugin, { host })).toBe(protocol);
  expect(await testPlugin(plugin, { host, options: { http2: true } })).toBe(protocol);
  expect(asked).toEqual([{ http2: false }, { http2: true }]);
});
