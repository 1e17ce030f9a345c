import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { type AddressGuard, createAddressGuard } from './address-guard.ts';
import type { SocketMaker, SocketTarget, TlsFiles } from './guarded-socket.ts';

export interface ConnectionPoolOptions {
  /** Exceptions to the address guard: host names, `host:port`, IP addresses, CIDR ranges. */
  readonly allowAddresses: readonly string[];
  /** Maximum connections to one host and port. */
  readonly maxSockets: number;
  /** Maximum idle connections over all hosts; the one idle for longest is closed to make room. */
  readonly maxIdleSockets: number;
  /** Idle connections are closed after this time, ms. */
  readonly idleTimeoutMs: number;
  /** Timeout for each address of a host except the last, ms. */
  readonly attemptTimeoutMs: number;
  /** Certificates in the form that `node:tls` takes. */
  readonly tls?: TlsFiles;
}

export interface ConnectionPool {
  readonly agent: { readonly http: HttpAgent; readonly https: HttpsAgent };
  readonly dnsLookup: LookupFunction;
}

export interface ConnectionPools {
  /** Reason why this URL must not be requested; `null`: that depends on the resolved addresses. */
  refusal(url: URL): string | null;
  /** For hosts that the operator did not name, and for those that were named. */
  readonly guarded: ConnectionPool;
  readonly named: ConnectionPool;
  isNamed(url: URL): boolean;
  /** The two pools with other sockets, which connect through a proxy. */
  through(makeSocket: (guard: AddressGuard) => SocketMaker): { guarded: ConnectionPool; named: ConnectionPool };
  closeIdle(): void;
}

/**
 * Keep-alive connections behind two checks. The address guard checks the URL and every resolved address, with the
 * operator's exceptions. Then, at the one place where sockets are made, request-filtering-agent refuses to connect to
 * anything except global unicast and the exceptions of the guard. An address must pass both.
 */
export function createConnectionPools(options: ConnectionPoolOptions): ConnectionPools {
  const guard = createAddressGuard(options.allowAddresses);
  // The agents hold this very array. They read it before the call that filled it returns, so it contains exactly the
  // addresses that are about to be checked.
  const exceptions: string[] = [];
  const about = (addresses: readonly string[]): void => {
    exceptions.splice(0, exceptions.length, ...addresses.filter(guard.isException));
  };
  const lookup: LookupFunction = (hostname, lookupOptions, callback) =>
    guard.lookup(hostname, lookupOptions, (error, found, family) => {
      if (error === null) about(typeof found === 'string' ? [found] : found.map(({ address }) => address));
      callback(error, found, family);
    });
  const announcing = <A extends HttpAgent>(agent: A): A => {
    const { createConnection } = agent;
    agent.createConnection = (connection, callback) => {
      about(typeof connection.host === 'string' ? [connection.host] : []);
      return createConnection.call(agent, connection, callback);
    };
    return agent;
  };
  const idle = createIdleSockets(options.maxIdleSockets);
  const keepAlive: AgentOptions = {
    keepAlive: true,
    maxSockets: options.maxSockets,
    maxFreeSockets: options.maxSockets,
    scheduling: 'lifo',
    timeout: options.idleTimeoutMs,
    autoSelectFamilyAttemptTimeout: options.attemptTimeoutMs,
  };
  const { ca, ...own } = options.tls ?? {};
  const tls = { ...own, ...(ca !== undefined && { ca: [...ca] }) };
  const unlessListed = { ...keepAlive, allowIPAddressList: exceptions };
  const any = { ...keepAlive, allowPrivateIPAddress: true, allowMetaIPAddress: true };
  return {
    refusal: guard.refusal,
    isNamed: guard.isNamed,
    guarded: {
      agent: {
        http: announcing(idle.countIn(new RequestFilteringHttpAgent(unlessListed))),
        https: announcing(idle.countIn(new RequestFilteringHttpsAgent({ ...unlessListed, ...tls }))),
      },
      dnsLookup: lookup,
    },
    named: {
      agent: {
        http: idle.countIn(new RequestFilteringHttpAgent(any)),
        https: idle.countIn(new RequestFilteringHttpsAgent({ ...any, ...tls })),
      },
      dnsLookup: guard.lookupNamed,
    },
    through(makeSocket) {
      const make = makeSocket(guard);
      const pool = (isNamed: boolean): ConnectionPool => ({
        agent: {
          http: idle.countIn(withSockets(new HttpAgent(keepAlive), make, { isSecure: false, isNamed })),
          https: idle.countIn(withSockets(new HttpsAgent(keepAlive), make, { isSecure: true, isNamed })),
        },
        dnsLookup: isNamed ? guard.lookupNamed : lookup,
      });
      return { guarded: pool(false), named: pool(true) };
    },
    closeIdle: idle.closeAll,
  };
}

/** An agent whose connections are made elsewhere, including TLS. */
function withSockets<A extends HttpAgent>(
  agent: A,
  make: SocketMaker,
  kind: Pick<SocketTarget, 'isSecure' | 'isNamed'>,
) {
  agent.createConnection = ({ host, port }, done) => {
    make({ ...kind, hostname: String(host), port: Number(port) }, (fault, socket) => done?.(fault, socket as Socket));
    // The agent waits for the call of `done`.
    return undefined;
  };
  return agent;
}

/** Limits the file descriptors of idle connections: `http.Agent` only has a limit per host. */
function createIdleSockets(limit: number): { countIn<A extends HttpAgent>(agent: A): A; closeAll(): void } {
  const idle = new Set<Duplex>();
  const closeOldest = (): void => {
    const [oldest] = idle;
    if (oldest === undefined) return;
    idle.delete(oldest);
    oldest.destroy();
  };
  const forget = function (this: Duplex): void {
    idle.delete(this);
  };
  return {
    countIn(agent) {
      const { keepSocketAlive, reuseSocket } = agent;
      agent.keepSocketAlive = (socket) => {
        const isKept = keepSocketAlive.call(agent, socket);
        idle.add(socket);
        socket.once('close', forget);
        if (idle.size > limit) closeOldest();
        return isKept;
      };
      agent.reuseSocket = (socket, request) => {
        idle.delete(socket);
        socket.removeListener('close', forget);
        reuseSocket.call(agent, socket, request);
      };
      return agent;
    },
    closeAll() {
      while (idle.size > 0) closeOldest();
    },
  };
}
