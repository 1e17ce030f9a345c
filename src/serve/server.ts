import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { openWorkers } from '../cluster/workers/open-workers.ts';
import { CrawlError } from '../core/domain/errors.ts';
import { roundReports } from '../crawler/index.ts';
import { type Patience, tellRun } from '../remote/questions/tell-run.ts';
import { askToGiveWay, giveWayOnRequest } from '../remote/viewer/give-way.ts';
import { isForeseen } from '../render/exit.ts';
import { createApp } from './app.ts';
import type { GuardOptions, SteeringGuardOptions } from './guard.ts';
import { createWorkersSource, watchRuns } from './run-watch.ts';
import { createSnapshots, type DbFigures } from './snapshot.ts';
import { isLocked, openStateAccess, type StateAccessOptions } from './state-access.ts';

export interface ListenOptions extends GuardOptions {
  readonly port: number;
  /** The names of this server under which the crawl may be steered; `null`: it may not. Needs a token. */
  readonly control: SteeringGuardOptions | null;
}

export interface LiveServer {
  readonly url: string;
  /** Resolves when connections and the crawl db are closed. */
  close(): Promise<void>;
}

/** A page does not wait for a crawl to begin, nor long for a suspended one. */
const PATIENCE: Patience = { startMs: 0, answerMs: 30_000 };

/**
 * Rejects with `CrawlError('usage-invalid')` when the address cannot be listened on, or another process serves this
 * state directory.
 */
export async function openServer(listen: ListenOptions, options: StateAccessOptions): Promise<LiveServer> {
  const { dir, log } = options;
  const other = await askToGiveWay(dir);
  if (other !== null)
    throw new CrawlError('usage-invalid', `process ${other.pid} already serves ${dir}, at ${other.url}`);
  const state = openStateAccess(options);
  const isUnreadable = (error: unknown): boolean =>
    isLocked(error) || (isForeseen(error) && error.code === 'crawl-missing');
  const figures = (): Promise<DbFigures> =>
    state.ask(async (reader) => ({ ...(await reader.stats()), budget: await reader.budget() }));
  const shared = openWorkers(options.config, log);
  const watch = watchRuns(dir, Date.now, createWorkersSource(shared, Date.now));
  const rounds = roundReports(dir);
  // Starts reading a long log before the first page needs it; that page reports any fault.
  rounds.rounds().catch(() => {});
  const app = createApp({
    dir,
    guarded: {
      ...listen,
      contentKey: randomBytes(16).toString('base64url'),
      control: listen.control && {
        ...listen.control,
        tell: (command, ...args) => tellRun(dir, command, args, PATIENCE),
      },
    },
    state,
    snapshots: createSnapshots(figures, Date.now, isUnreadable),
    watch,
    now: Date.now,
    rounds,
    onFault: (error) => log.error('a page could not be made', { error: error.message, stack: error.stack }),
  });
  const server = createServer(getRequestListener(app.fetch));
  try {
    await listening(server, listen.port, listen.host);
    const url = urlOf(server.address() as AddressInfo);
    const socket = await giveWayOnRequest(dir, { pid: process.pid, url }, () => state.giveWay());
    return {
      url,
      async close() {
        server.close();
        server.closeAllConnections();
        await Promise.all([watch.close(), socket.close()]);
        await state.close();
        await shared?.close();
      },
    };
  } catch (error) {
    server.close();
    await watch.close();
    await shared?.close();
    throw error;
  }
}

async function listening(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new CrawlError('usage-invalid', `cannot listen on ${host}:${port}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`;
}
