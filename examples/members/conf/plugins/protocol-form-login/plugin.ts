import { definePlugin, type Exchange, type ExchangeRequest, type FetchProtocol } from 'incrawl/plugin';
import { z } from 'zod';
import { fillIn, hasForm } from './form.ts';

const secret = z.union([z.strictObject({ env: z.string() }), z.strictObject({ file: z.string() })]);
const options = z.strictObject({
  login: z.url().describe('The page with the form.'),
  user: z.strictObject({ field: z.string(), value: secret }).describe('Field of the form, and where its value is.'),
  password: z.strictObject({ field: z.string(), value: secret }),
});

/** What a server has set: the header fields as they came, and the cookies to be sent. */
interface Session {
  readonly setCookies: readonly string[];
  readonly cookies: ReadonlyMap<string, string>;
}

const TIMEOUT_MS = 20_000;

export default definePlugin({
  name: 'protocol-form-login',
  api: 1,
  options,
  setup(host, { login, user, password }) {
    const http: FetchProtocol = host.http.createGotProtocol();
    const page = new URL(login);
    const valueAt = (place: z.infer<typeof secret>): string => {
      const text = 'env' in place ? process.env[place.env] : host.readTextFile(place.file);
      if (text === undefined || text.trim() === '') throw new Error(`${JSON.stringify(place)} is not set, or is empty`);
      return text.trim();
    };
    // Read at the first login: other commands set the plugin up, too.
    const values = () => ({ [user.field]: valueAt(user.value), [password.field]: valueAt(password.value) });

    const isLogin = ({ head, body }: Exchange, url: URL): boolean => {
      const { location } = head.headers;
      if (head.status >= 300 && head.status < 400 && location !== undefined && URL.canParse(location, url.href)) {
        const target = new URL(location, url);
        return target.origin === page.origin && target.pathname === page.pathname;
      }
      return head.status === 401 || (body !== null && hasForm(Buffer.from(body).toString('latin1'), password.field));
    };

    let session: Session | null = null;
    let loggingIn: Promise<Session> | null = null;
    let isRefused = false;

    /** Asks for the form, sends it filled in, and keeps what both answers set. Only one at a time. */
    async function logIn(): Promise<Session> {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const headers = { 'user-agent': host.agent };
      const form = await fetch(page, { headers, redirect: 'manual', signal });
      const sent = fillIn(await form.text(), page, values());
      if (sent === null)
        throw new Error(`${page.href} has no form with the fields ${user.field} and ${password.field}`);
      const before = form.headers.getSetCookie();
      const answer = await fetch(sent.action, {
        ...{ method: 'POST', redirect: 'manual', signal, body: sent.fields },
        headers: { ...headers, cookie: cookieText(cookiesOf(before)) },
      });
      const setCookies = [...before, ...answer.headers.getSetCookie()];
      const location = answer.headers.get('location') ?? '';
      const isBack = URL.canParse(location, page.href) && new URL(location, page).pathname === page.pathname;
      // A wrong password is not tried again and again: servers lock accounts.
      isRefused = answer.status >= 400 || isBack || hasForm(await answer.text(), password.field);
      if (isRefused) throw new Error('the name or the password was refused, and is not sent again');
      host.log.info('logged in', { login: page.href });
      return { setCookies, cookies: cookiesOf(setCookies) };
    }

    /** The request once more, in the session. incrawl keeps the cookies of its answer, so those of the login are there. */
    async function again(request: ExchangeRequest, { setCookies, cookies }: Session): Promise<Exchange> {
      const cookie = cookieText(new Map([...cookiesOf((request.headers.cookie ?? '').split('; ')), ...cookies]));
      const exchange = await http.exchange({ ...request, headers: { ...request.headers, cookie } });
      const rawHeaders = [...setCookies.flatMap((line) => ['set-cookie', line]), ...exchange.head.rawHeaders];
      return { ...exchange, head: { ...exchange.head, rawHeaders } };
    }

    return {
      schemes: ['http', 'https'],
      async exchange(request) {
        const url = new URL(request.url);
        const known = session;
        const exchange = await http.exchange(request);
        const isOfSite = url.origin === page.origin && url.pathname !== page.pathname && url.pathname !== '/robots.txt';
        if (!isOfSite || isRefused || !isLogin(exchange, url)) return exchange;
        // Another request may have logged in since this one was sent.
        if (session === known) {
          loggingIn ??= logIn().finally(() => {
            loggingIn = null;
          });
          session = await loggingIn.catch((error: Error) => {
            host.log.warn('the login failed', { login: page.href, message: error.message });
            return null;
          });
        }
        return session === null ? exchange : again(request, session);
      },
      close: () => http.close(),
    };
  },
});

/** `name=value` of fields; those that end a cookie are left out. */
function cookiesOf(lines: readonly string[]): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = /^\s*([^=;]+)=([^;]*)/.exec(line) ?? [];
    if (name === '') continue;
    if (/;\s*max-age=(?:0|-)/i.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
  return cookies;
}

const cookieText = (cookies: ReadonlyMap<string, string>): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
