import { isUrl } from '../../../domain/url/canonical/is-url.ts';

/** A proxy that the operator named. Its own address is not judged by the guard. */
export interface ProxyServer {
  /** `http`, `https`: how the proxy itself is reached. `socks5`: names are resolved here; `socks5h`: by the proxy. */
  readonly scheme: 'http' | 'https' | 'socks5' | 'socks5h';
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  readonly user: string | null;
  readonly password: string | null;
}

const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, socks5: 1080, socks5h: 1080 };

/** Reads `http://proxy.example:3128`, with a user and a password or without; `null` for any other text. */
export function parseProxy(text: string): ProxyServer | null {
  // Other schemes have no host in a URL without a scheme of the web: the parser is given one.
  const [, scheme = '', rest = ''] = /^(https?|socks5h?):\/\/(.*)$/i.exec(text.trim()) ?? [];
  const spelled = `http://${rest}`;
  if (scheme === '' || !isUrl(spelled)) return null;
  const { hostname, port, username, password, pathname, search, hash } = new URL(spelled);
  if (hostname === '' || pathname !== '/' || search !== '' || hash !== '') return null;
  const name = scheme.toLowerCase() as ProxyServer['scheme'];
  try {
    return {
      scheme: name,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      // The parser leaves out the port of http.
      port: port === '' ? (/:80\/?$/.test(rest) ? 80 : (PORTS[name] as number)) : Number(port),
      user: username === '' ? null : decodeURIComponent(username),
      password: password === '' ? null : decodeURIComponent(password),
    };
  } catch {
    return null;
  }
}

/** As messages show it: without user and password. */
export function proxyName({ scheme, hostname, port }: ProxyServer): string {
  return `${scheme}://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
}

/** Whether the proxy resolves host names, so that the guard cannot judge the addresses behind them. */
export const resolvesNames = ({ scheme }: ProxyServer): boolean => scheme !== 'socks5';

/**
 * Header fields with which a URL is sent to the proxy as a whole, which then asks for it (RFC 9112 section 3.2.2);
 * `null`: through a tunnel.
 */
export function forwardingFields(proxy: ProxyServer): Readonly<Record<string, string>> | null {
  if (proxy.scheme !== 'http' && proxy.scheme !== 'https') return null;
  return proxyAuthorization(proxy);
}

export function proxyAuthorization({ user, password }: ProxyServer): Readonly<Record<string, string>> {
  if (user === null) return {};
  const pair = Buffer.from(`${user}:${password ?? ''}`, 'utf8').toString('base64');
  return { 'proxy-authorization': `Basic ${pair}` };
}
