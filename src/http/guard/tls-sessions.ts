import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TlsFiles } from './tls-files.ts';

/** TLS sessions kept for resumption, which saves most of a handshake; `https.Agent` keeps as many. */
const MAX_SESSIONS = 100;

export interface TlsSessions {
  /** Begins the handshake with a host over a connection to it. */
  connect(socket: Socket, target: { readonly hostname: string; readonly port: number }): Socket;
}

/** Versions of HTTP that are offered, by their names in TLS (RFC 7301). */
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
        // An IP address is no server name (RFC 6066 section 3), and names are sent without a trailing dot.
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
