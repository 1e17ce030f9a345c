import type { Client } from 'undici';

/** A client of undici: one origin, one connection. */
export type UndiciClient = Client;

export interface Undici {
  readonly Client: new (origin: string, options: Client.Options) => UndiciClient;
  /** The property of a socket under which undici keeps the parser of its responses. */
  readonly parserKey: symbol;
}

/**
 * The only modules of undici in use. The package's own entry also loads fetch, caches and mocks, which takes five times
 * as long, and installs a dispatcher beneath the `fetch` of Node. The version is pinned, so the paths hold.
 */
const CLIENT = 'undici/lib/dispatcher/client.js';
const SYMBOLS = 'undici/lib/core/symbols.js';

export async function loadUndici(): Promise<Undici> {
  const { default: client } = (await import(CLIENT)) as { readonly default: Undici['Client'] };
  const { default: symbols } = (await import(SYMBOLS)) as { readonly default: { readonly kParser: symbol } };
  return { Client: client, parserKey: symbols.kParser };
}
