import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { hostEntriesBy } from '../../../src/core/config/hosts/host-entries.ts';
import { settingsForUrl } from '../../../src/core/config/hosts/settings-for-url.ts';
import { configJsonSchema } from '../../../src/core/config/json-schema.ts';
import { loadConfig } from '../../../src/core/config/load.ts';
import {
  coversPattern,
  type HostPattern,
  matchesUrl,
  parseHostPattern,
} from '../../../src/core/domain/url/canonical/host-pattern.ts';

const folder = mkdtempSync(join(tmpdir(), 'hosts-'));

async function load(yaml: string) {
  const file = join(folder, 'incrawl.yaml');
  writeFileSync(file, yaml);
  return loadConfig({ file });
}

async function faults(yaml: string): Promise<string[]> {
  const error = await load(yaml).then(
    () => new Error('it was accepted'),
    (fault: Error) => fault,
  );
  return error.message.split('\n').map((line) => line.replace(`${folder}/`, ''));
}

describe('patterns', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['example.org', 'https://example.org/', true],
    ['Example.ORG', 'http://example.org/a', true],
    ['example.org', 'https://www.example.org/', false],
    ['example.org', 'https://example.org:8443/', false],
    ['example.org:8443', 'https://example.org:8443/', true],
    ['*.example.org', 'https://example.org/', true],
    ['*.example.org', 'https://a.b.example.org/', true],
    ['*.example.org', 'https://notexample.org/', false],
    ['*.example.org', 'https://a.example.org:81/', false],
    ['*.example.org:81', 'http://a.example.org:81/', true],
    ['https://example.org/a/', 'https://example.org/a/b', true],
    ['https://example.org/a/', 'http://example.org/a/b', false],
    ['https://example.org', 'https://example.org/a', true],
    ['https://example.org', 'https://example.org.evil.example/', false],
    ['https://example.org', 'https://example.org:444/', false],
    ['bücher.example', 'https://xn--bcher-kva.example/', true],
    ['[::1]:80', 'http://[::1]/', true],
  ];
  it.each(cases)('%s, %s: %s', (pattern, url, matches) => {
    expect(matchesUrl(parseHostPattern(pattern) as HostPattern, url)).toBe(matches);
  });

  it('are refused where they are none', () => {
    for (const text of [
      '',
      '*',
      '*.',
      'a b',
      'example.org/path',
      'ftp://example.org/',
      '*.*.org',
      'a*.org',
      'https://',
    ])
      expect(parseHostPattern(text), text).toBeNull();
  });

  it('that cover others match all their URLs', () => {
    const host = fc.constantFrom('a.example', 'b.a.example', 'a.example:81', 'b.a.example:81', 'ba.example');
    const path = fc.constantFrom('', '/', '/x', '/x/', '/x/y');
    const pattern = fc.oneof(
      host,
      host.map((each) => `*.${each}`),
      fc.tuple(fc.constantFrom('http', 'https'), host, path).map(([s, h, p]) => `${s}://${h}${p}`),
    );
    const url = fc
      .tuple(
        fc.constantFrom('http', 'https'),
        fc.oneof(
          host,
          host.map((h) => `c.${h}`),
        ),
        fc.constantFrom('/', '/x', '/x/', '/x/y', '/z'),
      )
      .map(([s, h, p]) => `${s}://${h}${p}`);
    fc.assert(
      fc.property(pattern, pattern, url, (a, b, each) => {
        const [first, second] = [parseHostPattern(a) as HostPattern, parseHostPattern(b) as HostPattern];
        expect(coversPattern(first, first)).toBe(true);
        if (coversPattern(first, second) && matchesUrl(second, each)) expect(matchesUrl(first, each)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('hosts: in the configuration', () => {
  it('is read with units, and the first entry that matches decides', async () => {
    const { config } = await load(`hosts:
  - match: https://example.org/news/
    minInterval: 10m
    maxInterval: 1h
  - match: example.org
    delay: 2s
    connections: 3
    headers: { X-Reader: yes please }
    credentials: { basic: { user: me, password: { env: PASSWORD } } }
  - match: '*.example.org'
    priority: 0.5
`);
    const entries = hostEntriesBy(config.hosts);
    expect(entries.forUrl('https://example.org/news/1')?.entry).toMatchObject({ minIntervalMs: 600_000 });
    expect(entries.forUrl('https://example.org/')?.entry).toMatchObject({ delayMs: 2_000, connections: 3 });
    expect(entries.forHost('example.org')?.index).toBe(1);
    expect(entries.forUrl('https://www.example.org/')?.index).toBe(2);
    expect(entries.forUrl('https://example.net/')).toBeUndefined();
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['no list', 'hosts: {match: a.org}', /^incrawl\.yaml:1:9 hosts: expected a list of entries/],
    [
      'an unknown key',
      'hosts:\n  - match: a.org\n    dealy: 2s',
      /^incrawl\.yaml:3:5? ?.*hosts\[0\]\.dealy: unknown key, did you mean delay\?/,
    ],
    ['no pattern', 'hosts:\n  - delay: 2s', /hosts\[0\]\.match: expected a host, \*\.domain or URL prefix/],
    [
      'a wrong pattern',
      'hosts:\n  - match: a.org/b',
      /incrawl\.yaml:2:12 hosts\[0\]\.match: expected a host.*, got "a\.org\/b"/,
    ],
    [
      'a wrong value',
      'hosts:\n  - match: a.org\n    delay: soon',
      /incrawl\.yaml:3:12 hosts\[0\]\.delay: expected a duration.*got "soon"/,
    ],
    ['a delay by path', 'hosts:\n  - match: https://a.org/b/\n    delay: 2s', /all URLs of a host share its delay/],
    [
      'an entry that never decides',
      "hosts:\n  - match: '*.a.org'\n  - match: www.a.org",
      /incrawl\.yaml:3:12 hosts\[1\]\.match: never decides: hosts\[0\] \(\*\.a\.org\) matches all its URLs first/,
    ],
    ['crossed bounds', 'hosts:\n  - match: a.org\n    minInterval: 2d\n    maxInterval: 1d', /at most maxInterval/],
    ['HTTP/2 by got', 'hosts:\n  - match: a.org\n    protocol: got\n    http2: true', /expected protocol: undici/],
    [
      'a reserved header',
      'hosts:\n  - match: a.org\n    headers: { Host: b.org }',
      /headers\.Host: is set by the crawler/,
    ],
  ];
  it.each(refused)('is refused with %s', async (_, yaml, wanted) => {
    expect((await faults(yaml)).join('\n')).toMatch(wanted);
  });

  const SECRET = 'hunter2-hunter2';
  it.each([
    `credentials: { basic: { user: me, password: ${SECRET} } }`,
    `credentials: { bearer: ${SECRET} }`,
    `credentials: ${SECRET}`,
    `credentials: { basic: { user: me, password: { value: ${SECRET} } } }`,
    `headers: { Authorization: ${SECRET} }`,
    `headers: { X-Api-Key: ${SECRET} }`,
    `headers: { X-Session-Token: ${SECRET} }`,
    `certificate: { cert: a.pem, key: b.pem, passphrase: ${SECRET} }`,
  ])('refuses a secret that is written into it, and does not repeat it: %s', async (line) => {
    const said = (await faults(`hosts:\n  - match: a.org\n    ${line}`)).join('\n');
    expect(said).toMatch(/incrawl\.yaml:3:\d+ hosts\[0\]\./);
    expect(said).not.toContain(SECRET);
    expect(said).not.toContain('accepted');
  });

  it('is explained for a URL, with the source of each value', async () => {
    const { config, origins } = await load(`hosts:
  - match: https://a.org/news/
    minInterval: 10m
  - match: '*.a.org'
    delay: 30s
    credentials: { bearer: { file: token.txt } }
`);
    const news = settingsForUrl(config, origins, 'https://a.org/news/1');
    expect(news).toMatchObject({ entry: 'hosts[0]', hostEntry: 'hosts[1]' });
    expect(news.settings.get('minInterval')?.value).toBe('10m');
    expect(news.settings.get('delay')).toMatchObject({
      value: '30s',
      origin: expect.stringMatching(/incrawl\.yaml:4:5$/),
    });
    expect(news.settings.has('credentials')).toBe(false);
    const other = settingsForUrl(config, origins, 'https://b.org/');
    expect(other.entry).toBeNull();
    expect(other.settings.get('delay')).toEqual({ value: '5s', origin: 'fetch.delay, default' });
    expect(settingsForUrl(config, origins, 'https://a.org/').settings.get('credentials')?.value).toEqual({
      bearer: { file: 'token.txt' },
    });
  });
});

describe('conf/incrawl.schema.json', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const text = readFileSync(join(root, 'conf/incrawl.schema.json'), 'utf8');

  it('is made from the program, and the sample names it', () => {
    // Out of date: npm run docs.
    expect(text).toBe(configJsonSchema());
    expect(readFileSync(join(root, 'conf/incrawl.yaml'), 'utf8')).toContain('$schema=incrawl.schema.json');
  });

  it('accepts and refuses as the program does', async () => {
    const schema = z.fromJSONSchema(JSON.parse(text));
    const accepted = [
      readFileSync(join(root, 'conf/incrawl.yaml'), 'utf8'),
      'fetch:\n  delay: 2s\n  probe: head\nhttp.maxBodyBytes: 4MiB',
      'schedule:\n  goneIntervals: [1d, 7d]',
      'hosts:\n  - match: a.org\n    delay: 10\n    credentials: { bearer: { env: TOKEN } }\n    headers: { X-A: b }',
    ];
    const refused = [
      'fetch:\n  dealy: 2s',
      'fetch:\n  probe: maybe',
      'fetch:\n  connectionsPerHost: 100',
      'hosts:\n  - delay: 2s',
      'hosts:\n  - match: a.org\n    dealy: 2s',
      'hosts:\n  - match: a.org\n    credentials: { bearer: text }',
    ];
    for (const yaml of accepted) {
      expect(schema.safeParse(parse(yaml)).error?.issues ?? [], yaml).toEqual([]);
      await expect(load(yaml.replace(/^# yaml-lang.*$/m, '')), yaml).resolves.toBeDefined();
    }
    for (const yaml of refused) {
      expect(schema.safeParse(parse(yaml)).success, yaml).toBe(false);
      await expect(load(yaml), yaml).rejects.toThrow();
    }
  });
});
