import type { FetchProtocol, PluginHost } from 'incrawl/plugin';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

it('offers the protocol that the host builds', async () => {
  const protocol: FetchProtocol = {
    schemes: ['http', 'https'],
    exchange: () => Promise.reject(new Error('not asked for')),
    close: async () => {},
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const host: PluginHost = {
    log,
    readTextFile: () => '',
    http: { createGotProtocol: () => protocol, createUndiciProtocol: async () => protocol },
    now: () => 0,
    agent: 'incrawl',
    intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
  };
  expect(plugin.name).toBe('protocol-http');
  expect(await plugin.setup(host, {})).toBe(protocol);
});
