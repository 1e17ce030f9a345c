import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Log } from '../../ports/log.ts';
import type { PluginHost } from '../api/plugin-api.ts';

export interface HostOptions extends Pick<PluginHost, 'http' | 'agent' | 'intervals' | 'now'> {
  /** Folder that relative paths in plugin options refer to. */
  readonly baseDir: string;
  readonly log: Log;
}

/** The host of one plugin, and a digest of the files that the plugin has read through it so far. */
export function hostFor(
  name: string,
  options: HostOptions,
): { readonly host: PluginHost; readonly filesDigest: () => string } {
  const named = (fields?: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
    plugin: name,
    ...fields,
  });
  const { log, http, agent, intervals, now, baseDir } = options;
  const files = createHash('sha256');
  const host: PluginHost = Object.freeze({
    log: {
      debug: (message: string, fields?: Readonly<Record<string, unknown>>) => log.debug(message, named(fields)),
      info: (message: string, fields?: Readonly<Record<string, unknown>>) => log.info(message, named(fields)),
      warn: (message: string, fields?: Readonly<Record<string, unknown>>) => log.warn(message, named(fields)),
      error: (message: string, fields?: Readonly<Record<string, unknown>>) => log.error(message, named(fields)),
    },
    readTextFile: (path: string) => {
      const text = readFileSync(resolve(baseDir, path), 'utf8');
      files.update(`${text.length} `).update(text);
      return text;
    },
    http,
    now,
    agent,
    intervals,
  });
  return { host, filesDigest: () => files.copy().digest('hex') };
}
