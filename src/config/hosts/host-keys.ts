import { z } from 'zod';
import { RENDER_MODES } from '../../domain/crawl/rendering/render-mode.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import { parseHostPattern } from '../../domain/url/canonical/host-pattern.ts';
import { choice, decimal, duration, FIELDS, type FieldMeta, flag, integer, text } from '../fields.ts';
import { PROXY_WANTED, proxySetting } from './proxy-setting.ts';
import { requestHeaders } from './request-headers.ts';
import { SECRET_JSON, secretRef } from './secret-ref.ts';

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
