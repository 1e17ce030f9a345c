import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type AddressGuard, BLOCKED } from './address-guard.ts';

export interface SocketTarget {
  readonly isSecure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  /** Whether the operator named the host, see {@link AddressGuard.isNamed}. */
  readonly isNamed: boolean;
}

/**
 * Connects. `done` is called once, with a connected socket or with the fault. Returns the socket, to be destroyed if it
 * is no longer wanted.
 */
export type SocketMaker = (target: SocketTarget, done: (fault: Error | null, socket: Socket | null) => void) => Socket;

type Phase = 'lookup' | 'connect' | 'secureConnect';

/**
 * Sockets behind two checks: of the resolved addresses before connecting, and of the connected address before a byte is
 * sent. Resolution, connection and TLS handshake each end after `timeoutMs` with an error whose `event` is the phase.
 * If a name has several addresses, each except the last is tried for at most `attemptTimeoutMs`.
 */
export function createSocketMaker(
  guard: AddressGuard,
  timeoutMs: number,
  attemptTimeoutMs: number,
  tls: TlsFiles = {},
  alpn: Alpn = HTTP1,
): SocketMaker {
  const sessions = createTlsSessions(tls, alpn);
  return (target, done) => {
    const { isSecure, hostname, port, isNamed } = target;
    const lookup = isNamed ? guard.lookupNamed : guard.lookup;
    let timer: NodeJS.Timeout | undefined;
    let isDone = false;
    const settle = (fault: Error | null, socket: Socket | null): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      if (fault !== null) tcp.destroy();
      done(fault, socket);
    };
    const enter = (phase: Phase): void => {
      if (isDone) return;
      clearTimeout(timer);
      timer = setTimeout(() => settle(timedOut(phase, target, timeoutMs), null), timeoutMs);
    };
    // The listener stays attached, so that a late error of the socket does not end the process.
    const onError = (fault: Error): void => settle(fault, null);
    const onClose = (): void => settle(new Error('the connection was aborted'), null);

    const tcp = connect({
      host: hostname,
      port,
      lookup,
      noDelay: true,
      autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    });
    enter(isIP(hostname) === 0 ? 'lookup' : 'connect');
    tcp.once('lookup', () => enter('connect'));
    tcp.on('error', onError);
    tcp.once('close', onClose);
    tcp.once('connect', () => {
      const { remoteAddress = '' } = tcp;
      if (!guard.permits(remoteAddress, isNamed)) {
        const text = `${hostname} led to ${remoteAddress}, a private or reserved address`;
        settle(Object.assign(new Error(text), { code: BLOCKED }), null);
      } else if (isSecure) {
        enter('secureConnect');
        const tls = sessions.connect(tcp, target);
        tls.on('error', onError);
        tls.once('secureConnect', () => settle(null, tls));
      } else {
        settle(null, tcp);
      }
    });
    return tcp;
  };
}

function timedOut(phase: Phase, { hostname, port }: SocketTarget, timeoutMs: number): Error {
  const text = `${phase} of ${hostname}:${port} not done after ${timeoutMs} ms`;
  return Object.assign(new Error(text), { code: 'ETIMEDOUT', event: phase });
}

/** Number of TLS sessions kept for resumption, which saves most of a handshake; the same as in `https.Agent`. */
const MAX_SESSIONS = 100;

interface TlsSessions {
  /** Begins the TLS handshake with a host over a connection to it. */
  connect(socket: Socket, target: { readonly hostname: string; readonly port: number }): Socket;
}

/** Versions of HTTP to offer, by their names in TLS (RFC 7301). */
export type Alpn = readonly ('h2' | 'http/1.1')[];

export const HTTP1: Alpn = ['http/1.1'];

export function createTlsSessions({ ca, ...own }: TlsFiles, alpn: Alpn = HTTP1): TlsSessions {
  const sessions = new Map<string, Buffer>();
  const keep = (key: string, session: Buffer): void => {
    sessions.delete(key);
    sessions.set(key, session);
    for (const oldest of sessions.keys()) {
      if (sessions.size <= MAX_SESSIONS) break;
      sessions.delete(oldest);
    }
  };
  return {
    connect(socket, { hostname, port }) {
      const key = `${hostname}:${port}`;
      const session = sessions.get(key);
      const tls = connectTls({
        socket,
        ...own,
        ...(ca !== undefined && { ca: [...ca] }),
        host: hostname,
        ALPNProtocols: [...alpn],
        // An IP address is not a server name (RFC 6066 section 3), and names are sent without a trailing dot.
        servername: isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : '',
        ...(session === undefined ? {} : { session }),
      });
      tls.on('session', (fresh: Buffer) => keep(key, fresh));
      const forget = (): void => {
        sessions.delete(key);
      };
      tls.once('error', forget);
      tls.once('secureConnect', () => tls.off('error', forget));
      return tls;
    },
  };
}

/** Certificates in the form that `node:tls` takes, in PEM. */
export interface TlsFiles {
  /** All trusted authorities; absent: those of the system. */
  readonly ca?: readonly string[];
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
}
