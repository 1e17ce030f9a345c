import type { Config } from '../core/config/schema.ts';
import { userAgentOf } from '../core/config/user-agent.ts';
import { type LoadedPlugins, loadPlugins, MAIN_THREAD_KINDS } from '../core/plugin-host/loading/load-plugins.ts';
import type { PluginList } from '../core/plugin-host/loading/plugin-list.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { Log } from '../core/ports/log.ts';
import { createGotProtocol } from '../http/exchange/got-protocol.ts';
import type { HttpProtocolOptions } from '../http/exchange/protocol-options.ts';
import { intervalsOf } from './parsing-options.ts';

export interface PluginOptions {
  readonly config: Config;
  /** Folder that plugin paths are resolved against. */
  readonly baseDir: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Idle connections kept over all hosts; default: that of the protocols. */
  readonly idleSockets?: number | undefined;
}

/** The plugins of a list that run in the main thread: all except parsers, parse filters and signatures. */
export async function loadMainPlugins(
  list: PluginList,
  { config, baseDir, log, clock, idleSockets }: PluginOptions,
): Promise<LoadedPlugins> {
  const options = httpOptions(config, idleSockets);
  return loadPlugins({
    list,
    baseDir,
    log,
    kinds: MAIN_THREAD_KINDS,
    agent: config.agent.name,
    intervals: intervalsOf(config),
    now: () => clock.now(),
    http: {
      createGotProtocol: () => createGotProtocol(options),
      createUndiciProtocol: async (more) => {
        const { createUndiciProtocol } = await import('../transports/undici/undici-protocol.ts');
        return createUndiciProtocol({ ...options, ...more });
      },
    },
  });
}

/** Options of both transports, as configured for all hosts. */
export function httpOptions({ agent, http, fetch, hosts }: Config, idleSockets?: number): HttpProtocolOptions {
  const connections = hosts.map((entry) => entry.connections ?? 0);
  return {
    userAgent: userAgentOf(agent),
    acceptLanguage: agent.acceptLanguage,
    maxHeaderBytes: http.maxHeaderBytes,
    connectTimeoutMs: http.connectTimeoutMs,
    headTimeoutMs: http.headTimeoutMs,
    stallTimeoutMs: http.stallTimeoutMs,
    allowAddresses: http.allowAddresses,
    maxSockets: Math.max(8, fetch.connectionsPerHost, ...connections),
    ...(idleSockets === undefined ? {} : { maxIdleSockets: idleSockets }),
  };
}
