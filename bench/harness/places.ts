/** Folders of a run, the built program, and a site on loopback. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_PLUGIN_LIST } from '../../src/core/plugin-host/loading/plugin-list.ts';
import { UsageError } from './measurement.ts';

/** The built command. */
export const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
/** The checkout, from what is built. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Gives an empty folder as long as `use` takes. */
export async function withFolder<Value>(use: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'incrawl-bench-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the default list of plugins into a folder; `useOf` names another plugin in place of one, or none. */
export function pluginsFile(folder: string, useOf: (use: string) => string | null): string {
  const file = join(folder, 'bench-plugins.yaml');
  const uses = DEFAULT_PLUGIN_LIST.entries.flatMap(({ use }) => useOf(use) ?? []);
  writeFileSync(file, `plugins:\n${uses.map((use) => `  - ${use}\n`).join('')}`);
  return file;
}

/** A folder or file of data that no checkout has. @param option `--pages FOLDER`, @param what the data are */
export function dataAt(path: string | undefined, option: string, what: string): string {
  if (path === undefined || path === '') throw new UsageError(`${option} is needed: ${what}`);
  if (!existsSync(path)) throw new UsageError(`${option}: ${path} is not there; expected ${what}`);
  return path;
}

export interface Served {
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves on loopback. @param port 0: any that is free */
export async function serve(answer: RequestListener, address = '127.0.0.1', port = 0): Promise<Served> {
  const server = createServer({ keepAliveTimeout: 60_000 }, answer).listen(port, address);
  await once(server, 'listening');
  return {
    origin: `http://${address}:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
