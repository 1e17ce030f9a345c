import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type { Log, PluginHost, UrlFilter } from 'incrawl/plugin';
import { describe, expect, it, vi } from 'vitest';
import { DEFAULT_RULES } from './default-rules.ts';
import plugin from './plugin.ts';
import { readRules } from './rules.ts';

const CONTEXT = { from: null, depth: 0, seedHosts: new Set<string>() };

function recordingLog(): Log & { readonly warnings: string[] } {
  const warnings: string[] = [];
  const ignore = (): void => {};
  return { warnings, debug: ignore, info: ignore, warn: (message) => void warnings.push(message), error: ignore };
}

async function setUp(options: Record<string, unknown>, files: Record<string, string> = {}) {
  const log = recordingLog();
  const readTextFile = (path: string): string => {
    if (files[path] === undefined) throw new Error(`cannot read /conf/${path}`);
    return files[path];
  };
  const host = { log, readTextFile } as Partial<PluginHost> as PluginHost;
  const filter: UrlFilter = await plugin.setup(host, plugin.options!.parse(options));
  return { filter, log };
}

describe('urlfilter-rules by default', () => {
  it.each([
    'http://a.org/',
    'https://a.org/p?id=1&page=2',
    'http://a.org/pdf',
    'http://a.org/gif',
    'http://a.org/zip/x',
    'http://png.org/',
    'http://a.org/2024/05/05/05x/',
    'http://a.org/a/b/a/b/c',
    'http://a.org/a/a/a/b',
    'http://a.org/x?u=/a/a/a/a',
    'http://a.org/sitemap-posts-3.xml.gz',
  ])('lets %s in', async (url) => {
    const { filter } = await setUp({});
    expect(filter.filter(url, CONTEXT)).toMatchObject({
      accept: true,
      reason: expect.stringMatching(/^rule line \d+: \+/),
    });
  });

  it.each([
    ['ftp://a.org/x', '-^(?:file|ftp|mailto):'],
    ['mailto:a@b.org', '-^(?:file|ftp|mailto):'],
    ['http://a.org/x.GIF', '-(?i)\\.'],
    ['http://a.org/x.jpeg?w=100', '-(?i)\\.'],
    ['http://a.org/x.tar.gz', '-(?i)\\.'],
    ['http://a.org/report.pdf', '-(?i)\\.(?:pdf|'],
    ['http://a.org/sitemap/x.xml.gz', '-(?i)\\.'],
    ['http://a.org/get?file=x.zip', '-(?i)\\.'],
  ])('keeps %s out', async (url, rule) => {
    const { filter } = await setUp({});
    const verdict = filter.filter(url, CONTEXT);
    expect(verdict.accept).toBe(false);
    expect(verdict.reason).toContain(rule);
  });

  it('is what conf/url-rules.txt says', () => {
    const file = fileURLToPath(new URL('../../conf/url-rules.txt', import.meta.url));
    expect(readFileSync(file, 'utf8')).toBe(DEFAULT_RULES);
  });
});

describe('urlfilter-rules with a file', () => {
  it('lets the first match decide and names it', async () => {
    const { filter, log } = await setUp(
      { file: 'r.txt' },
      { 'r.txt': '\ufeff# mine\r\n\r\n+^http://a\\.org/\r\n-a\n' },
    );
    expect(filter.filter('http://a.org/', CONTEXT)).toEqual({ accept: true, reason: 'rule line 3: +^http://a\\.org/' });
    expect(filter.filter('http://b.org/a', CONTEXT)).toEqual({ accept: false, reason: 'rule line 4: -a' });
    expect(filter.filter('http://c/', CONTEXT)).toEqual({ accept: false, reason: 'no rule matches' });
    expect(log.warnings).toEqual([]);
  });

  it('keeps out what is longer than the limit', async () => {
    const { filter } = await setUp({ maxUrlLength: 64 });
    expect(filter.filter(`http://a.org/${'x'.repeat(51)}`, CONTEXT).accept).toBe(true);
    expect(filter.filter(`http://a.org/${'x'.repeat(52)}`, CONTEXT)).toMatchObject({
      reason: 'longer than 64 characters',
    });
  });

  it('reports every bad line with file, line and what was expected', async () => {
    const text = ['.*', '+', '-(a', '-(a)\\1', '-http\\Z', '-a++', '-(?!x)', '+.'].join('\n');
    const error = await setUp({ file: 'r.txt' }, { 'r.txt': text }).catch((caught: Error) => caught.message);
    const lines = String(error).split('\n');
    expect(lines[0]).toBe('r.txt:1: expected + or - and a regular expression, found ".*"');
    expect(lines[1]).toContain('r.txt:2: expected a regular expression after "+"');
    expect(lines[2]).toContain('r.txt:3: "-(a" is no regular expression that the filter can run: missing closing )');
    expect(lines[3]).toContain('r.txt:4: "-(a)\\1" is no regular expression that the filter can run: backreferences');
    expect(lines[4]).toContain('r.txt:5: "-http\\Z" is no regular expression that the filter can run: \\Z is not');
    expect(lines[5]).toContain('r.txt:6: "-a++" is no regular expression that the filter can run: possessive');
    expect(lines[6]).toContain('r.txt:7: "-(?!x)" is no regular expression that the filter can run: lookahead');
    expect(lines).toHaveLength(7);
  });

  it('refuses an empty file and a file that is not there', async () => {
    await expect(setUp({ file: 'r.txt' }, { 'r.txt': '# nothing\n' })).rejects.toThrow(
      'r.txt: no rules, expected lines',
    );
    await expect(setUp({ file: 'none.txt' })).rejects.toThrow('cannot read /conf/none.txt');
    expect(plugin.options!.safeParse({ files: 'x' }).success).toBe(false);
  });

  it('warns of rules that cannot be meant', () => {
    expect(readRules('-a\n-b', 'r.txt').warnings).toEqual(['r.txt: no rule begins with +, so every URL is kept out']);
    expect(readRules('+.*\n\n-b', 'r.txt').warnings).toEqual(['r.txt:3: never reached, line 1 matches every URL']);
  });

  it('takes the rules that Nutch ships, except the one with a backreference', () => {
    const nutch = [
      '-^(?:file|ftp|mailto):',
      '-(?i)\\.(?:gif|jpg|png|ico|css)$',
      '-[?*!@=]',
      '-.*(/[^/]+)/[^/]+\\1/[^/]+\\1/',
      '+.',
    ];
    const loops = 3;
    expect(readRules(nutch.toSpliced(loops, 1).join('\n'), 'r.txt').rules).toHaveLength(4);
    expect(() => readRules(nutch.join('\n'), 'r.txt')).toThrow(
      /^r\.txt:4: ".*" is no regular expression.*: backreferences.* delete this line, urlfilter-traps keeps them out$/,
    );
  });

  it("matches as JavaScript's engine does, whatever .* stands at the ends", () => {
    const literal = fc.constantFrom('a', 'b', '\\.', '\\\\', '/', '[ab]', 'a|b');
    const source = fc
      .tuple(
        fc.constantFrom('', '.*', '^.*', '.*?'),
        literal,
        literal,
        fc.constantFrom('', '.*', '.*$', '.*?', '\\.*', '\\\\.*'),
      )
      .map((parts) => parts.join(''));
    const url = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\\', '/'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(source, url, (text, subject) => {
        const { regex } = readRules(`+${text}`, 'r.txt').rules[0]!;
        expect(regex === null || regex.test(subject)).toBe(new RegExp(text).test(subject));
      }),
    );
  });
});

describe('a busy machine', () => {
  it('makes no rule look slow', async () => {
    const { filter, log } = await setUp({});
    let time = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 1_000));
    try {
      expect(filter.filter('http://a.org/', CONTEXT).accept).toBe(true);
      expect(filter.filter('http://a.org/x.gif', CONTEXT).accept).toBe(false);
    } finally {
      clock.mockRestore();
    }
    expect(log.warnings).toEqual([]);
  });
});
