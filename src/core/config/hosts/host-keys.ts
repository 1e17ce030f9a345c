import { z } from 'zod';
import { RENDER_MODES } from '../../domain/crawl/rendering/render-trials.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import { parseHostPattern } from '../../domain/url/canonical/host-pattern.ts';
import { choice, decimal, duration, FIELDS, type FieldMeta, flag, integer, text } from '../fields.ts';

/** Where a secret is: in a variable of the environment, or in a file, relative to the configuration file. */
export type SecretRef = { readonly env: string } | { readonly file: string };

const WANTED =
  'expected { env: NAME } or { file: PATH }: the configuration says where a secret is, it does not contain it';

/** Any other value is refused, and what was given is not repeated. */
const secretRef = z.union(
  [
    z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
    z.strictObject({ file: z.string().regex(/^[^\p{Cc}]+$/u) }),
  ],
  { error: () => WANTED },
);

const SECRET_JSON = {
  description: 'Where the secret is: a variable of the environment, or a file beside the configuration.',
  oneOf: [
    { type: 'object', additionalProperties: false, required: ['env'], properties: { env: { type: 'string' } } },
    { type: 'object', additionalProperties: false, required: ['file'], properties: { file: { type: 'string' } } },
  ],
} as const;

const PORT = '(?::[0-9]{1,5})?';
const HOST = String.raw`(?:\[[0-9a-fA-F:.]+\]|[^\s/?#@:%[\]]+)`;

/** A proxy without user and password, which are secrets. */
export const PROXY_URL = new RegExp(`^(?:https?|socks5h?)://${HOST}${PORT}/?$`);
export const PROXY_WANTED =
  'a proxy such as http://proxy.example:3128, socks5://127.0.0.1:1080 or socks5h://proxy.example, without a password';

const wanted = `expected none, ${PROXY_WANTED}, or { url, user, password: { env: NAME } }`;
const url = z.string({ error: () => wanted }).regex(PROXY_URL, { error: () => wanted });

/** `proxy` of an entry: what was given is not repeated, as it may hold a password. */
const proxySetting = z.union(
  [z.literal('none'), url, z.strictObject({ url, user: z.string().regex(/^[^\p{Cc}:]+$/u), password: secretRef })],
  { error: () => wanted },
);

/** Fields that the crawler sets itself, or that belong to the connection: others would break what rests on them. */
const RESERVED =
  /^(?:host|connection|keep-alive|te|trailer|upgrade|transfer-encoding|content-.*|accept-encoding|user-agent|range|if-.*|expect|cookie|proxy-.*)$/;

/** Names of fields whose values are secrets on nearly every server. */
const SECRET = /auth|token|secret|password|session|api-?key|credential|signature/;

/** Whether the value of a field must come from the environment or a file. */
export const isSecretHeader = (name: string): boolean => SECRET.test(name.toLowerCase());

/** Request fields by name: text, or where a secret is. */
const requestHeaders = z
  .record(
    z.string(),
    z.union([z.string().regex(/^[\t\x20-\x7e]*$/), secretRef], {
      error: () => 'expected text of visible ASCII characters, { env: NAME } or { file: PATH }',
    }),
    { error: () => 'expected names and values of request headers' },
  )
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const refuse = (message: string): void => context.addIssue({ code: 'custom', path: [name], message });
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) refuse('is not the name of a header field (RFC 9110)');
      else if (RESERVED.test(name.toLowerCase())) refuse('is set by the crawler itself; see userAgent and cookies');
      else if (typeof value === 'string' && isSecretHeader(name)) {
        refuse('looks like a secret: expected { env: NAME } or { file: PATH }');
      }
    }
  });

const PATTERN = 'a host, *.domain or URL prefix, such as shop.example.org, *.example.org:8080, https://a.example/b/';

/** A key that may be missing, and has no default then: the general setting holds. */
function optional<Value extends z.ZodType>(leaf: z.ZodType & { unwrap(): Value }) {
  const schema = z.optional(leaf.unwrap());
  FIELDS.add(schema, FIELDS.get(leaf) as FieldMeta);
  return schema;
}

/** A key with keys of its own, which `json` describes for editors. */
function record<Value extends z.ZodType>(schema: Value, meta: Omit<FieldMeta, 'kind' | 'unit'>) {
  const leaf = z.optional(schema);
  FIELDS.add(leaf, { kind: 'record', unit: '', ...meta });
  return leaf;
}

const object = (properties: Readonly<Record<string, unknown>>, required: readonly string[]) => ({
  ...{ type: 'object', additionalProperties: false },
  ...{ properties, required },
});

const line = (wanted: string) =>
  z.string({ error: () => `expected ${wanted}` }).regex(/^[^\p{Cc}]+$/u, { error: () => `expected ${wanted}` });

const credentials = z
  .strictObject({
    basic: z.optional(
      z.strictObject({
        // RFC 7617, section 2: the first colon ends the user name.
        user: line('a user name without a colon').regex(/^[^:]*$/, {
          error: () => 'expected a user name without a colon',
        }),
        password: secretRef,
      }),
    ),
    bearer: z.optional(secretRef),
  })
  .refine(({ basic, bearer }) => (basic === undefined) !== (bearer === undefined), {
    error: () => 'expected one of basic: { user, password } and bearer: { env: NAME }',
  });

const certificate = z.strictObject({
  cert: line('a PEM file'),
  key: line('a PEM file'),
  passphrase: z.optional(secretRef),
});

/** Keys of an entry as operators write them, in the order of the reference. */
export const HOST_KEYS = {
  match: z
    .string({ error: () => `expected ${PATTERN}` })
    .refine((value) => parseHostPattern(value) !== null, { error: () => `expected ${PATTERN}` })
    .register(FIELDS, {
      kind: 'text',
      type: 'text',
      unit: '',
      limits: PATTERN,
      prose: 'The URLs that the entry is for. The first entry that matches a URL decides. Required.',
    }),
  delay: optional(
    duration({
      default: '5s',
      min: '0s',
      max: '1h',
      prose: 'As fetch.delay, for these hosts. A longer Crawl-delay of robots.txt still wins.',
    }),
  ),
  connections: optional(
    integer({ default: 1, min: 1, max: 64, unit: 'exchanges', prose: 'As fetch.connectionsPerHost, for these hosts.' }),
  ),
  depth: optional(
    integer({
      default: 1_000,
      min: 1,
      max: 1_000,
      unit: 'layers',
      prose: 'As crawl --depth, for these pages: 1 is the seeds alone, 2 also the pages that they link to.',
    }),
  ),
  fetchesPerDay: optional(
    integer({
      default: 1_000_000,
      min: 1,
      max: 1_000_000_000,
      unit: 'visits',
      prose: 'Most visits to pages of each of these hosts on a UTC day, over all rounds and runs.',
    }),
  ),
  headers: record(requestHeaders, {
    type: 'headers',
    limits: 'names and values',
    prose: 'Request headers. The value of one that is a secret is { env: NAME } or { file: PATH }.',
    json: { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, SECRET_JSON] } },
  }),
  credentials: record(credentials, {
    type: 'basic | bearer',
    limits: 'one of basic: { user, password } and bearer; secrets as { env: NAME } or { file: PATH }',
    prose: 'Sent in the Authorization header over https. Never sent to any other URL, nor across a redirect.',
    json: {
      oneOf: [
        object({ basic: object({ user: { type: 'string' }, password: SECRET_JSON }, ['user', 'password']) }, ['basic']),
        object({ bearer: SECRET_JSON }, ['bearer']),
      ],
    },
  }),
  certificate: record(certificate, {
    type: 'client certificate',
    limits: 'cert and key: PEM files, beside the configuration; passphrase: { env: NAME } or { file: PATH }',
    prose: 'Client certificate for TLS.',
    json: object({ cert: { type: 'string' }, key: { type: 'string' }, passphrase: SECRET_JSON }, ['cert', 'key']),
  }),
  ca: optional(
    text({
      default: '',
      pattern: /^.+$/,
      wanted: 'a PEM file, beside the configuration',
      prose: 'Certificate authorities that are trusted besides the usual ones.',
    }),
  ),
  secretsOverHttp: optional(
    flag({ default: false, prose: 'Send credentials, secret headers and cookies over http, too.' }),
  ),
  cookies: optional(
    flag({
      default: false,
      prose: 'Keep the cookies of these hosts in the state directory, and send them back over https.',
    }),
  ),
  login: optional(
    text({
      default: '',
      pattern: /^https?:\/\/[^\s]+$/,
      wanted: 'a URL such as https://shop.example.org/login',
      prose:
        'Login page. A page that answers as it does, by a redirect or its text, fails with login-required and is tried ' +
        'again. List it among the seeds, so that its text is known.',
    }),
  ),
  proxy: record(proxySetting, {
    type: 'proxy',
    limits: `none, ${PROXY_WANTED}, or { url, user, password }`,
    prose: 'As http.proxy, for these requests; private and allowed hosts go through it as well. none: no proxy.',
    json: {
      anyOf: [
        { type: 'string' },
        object({ url: { type: 'string' }, user: { type: 'string' }, password: SECRET_JSON }, [
          'url',
          'user',
          'password',
        ]),
      ],
    },
  }),
  protocol: optional(
    choice(['got', 'undici'], { default: 'got', prose: 'Transport, in place of the protocol plugin of the list.' }),
  ),
  http2: optional(
    flag({
      default: false,
      prose: 'HTTP/2 with servers that offer it over TLS, by undici. For all hosts: the option of protocol-undici.',
    }),
  ),
  render: optional(choice(RENDER_MODES, { default: 'never', prose: 'As render.mode, for these pages.' })),
  userAgent: optional(
    text({
      default: '',
      pattern: /^[\x21-\x7e][\x20-\x7e]*$/,
      wanted: 'a User-Agent header of visible ASCII characters',
      prose: 'User-Agent header. The group of robots.txt is still that of agent.name.',
    }),
  ),
  minInterval: optional(
    duration({ default: '1h', min: '1s', max: '3650d', prose: 'As schedule.minInterval, for these pages.' }),
  ),
  maxInterval: optional(
    duration({ default: '90d', min: '1s', max: '3650d', prose: 'As schedule.maxInterval, for these pages.' }),
  ),
  priority: optional(
    decimal({
      default: 1,
      min: 0.001,
      max: 1000,
      prose: 'Factor of the rank by which due URLs are chosen for a round; under a budget, new URLs.',
    }),
  ),
};

function canonicalOf(url: string): string | undefined {
  const canonical = canonicalUrl(url);
  return 'error' in canonical ? undefined : canonical.url;
}

/** Durations in ms. A key that is `undefined` leaves the general setting in force. */
export const hostEntry = z
  .strictObject(HOST_KEYS, {
    error: ({ code }) => (code === 'invalid_type' ? 'expected an entry with "match" and settings' : undefined),
  })
  .superRefine((entry, context) => {
    const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
    if (parseHostPattern(entry.match)?.kind === 'prefix') {
      // URLs of one host share its turns, whatever their paths.
      const wanted =
        'expected an entry for a host or *.domain: all URLs of a host share its delay, connections and fetches a day';
      if (entry.delay !== undefined) refuse('delay', wanted);
      if (entry.connections !== undefined) refuse('connections', wanted);
      if (entry.fetchesPerDay !== undefined) refuse('fetchesPerDay', wanted);
    }
    if (entry.http2 === true && entry.protocol === 'got') refuse('http2', 'expected protocol: undici, or none');
    if (entry.login !== undefined && canonicalOf(entry.login) === undefined) refuse('login', 'expected a URL');
    if (entry.minInterval !== undefined && entry.maxInterval !== undefined && entry.minInterval > entry.maxInterval) {
      refuse('minInterval', 'expected at most maxInterval of the same entry');
    }
  })
  .transform(({ delay, minInterval, maxInterval, login, ...entry }) => ({
    ...entry,
    login: login === undefined ? undefined : canonicalOf(login),
    delayMs: delay,
    minIntervalMs: minInterval,
    maxIntervalMs: maxInterval,
  }));
