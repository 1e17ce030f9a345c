import type { Client } from 'undici';

/** A client of undici: one origin, one connection. */
export type UndiciClient = Client;
export type UndiciClientClass = new (origin: string, options: Client.Options) => UndiciClient;

/**
 * The only module of undici in use. The package's own entry also loads fetch, caches and mocks, which takes five times
 * as long, and installs a dispatcher beneath the `fetch` of Node. The version is pinned, so the path holds.
 */
const MODULE = 'undici/lib/dispatcher/client.js';

export async function loadUndici(): Promise<UndiciClientClass> {
  const { default: client } = (await import(MODULE)) as { readonly default: UndiciClientClass };
  return client;
}
