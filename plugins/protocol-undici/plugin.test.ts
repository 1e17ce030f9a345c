import type { FetchProtocol } from 'incrawl/plugin';
import { testHost, testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

it('offers the protocol that the host builds', async () => {
  const protocol: FetchProtocol = { ...testHost.http.createGotProtocol(), schemes: ['http', 'https'] };
  const host = { ...testHost, http: { ...testHost.http, createUndiciProtocol: async () => protocol } };
  expect(plugin.name).toBe('protocol-undici');
  expect(await testPlugin(plugin, { host })).toBe(protocol);
});
