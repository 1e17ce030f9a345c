import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRobots } from '../../src/http/robots/robots.ts';
import { decodeRobots } from '../../src/http/robots/robots-fetch.ts';
import { parseRobots } from '../../src/http/robots/robots-reader.ts';

const allowed = (robots: string, path: string, agent = 'incrawl'): boolean =>
  checkRobots({ robots, agent, url: `http://example.org${path}` }).allowed;

describe('rules', () => {
  it.each<[string, string, string, boolean]>([
    ['nothing', '', '/a', true],
    ['the longest rule wins', 'user-agent: *\ndisallow: /a\nallow: /a/b', '/a/b/c', true],
    ['allow wins a tie', 'user-agent: *\ndisallow: /a\nallow: /a', '/a', true],
    ['/robots.txt is always allowed', 'user-agent: *\ndisallow: /', '/robots.txt', true],
    ['but not what begins like it', 'user-agent: *\ndisallow: /', '/robots.txt.bak', false],
    ['encoded letters in the rule', 'user-agent: *\ndisallow: /%66oo', '/foo', false],
    ['encoded letters in the path', 'user-agent: *\ndisallow: /foo', '/%66oo', false],
    ['an encoded slash is no slash', 'user-agent: *\ndisallow: /a/b', '/a%2Fb', true],
    ['hexadecimal digits in either case', 'user-agent: *\ndisallow: /a%2fb', '/a%2Fb', false],
    ['characters beyond ASCII', 'user-agent: *\ndisallow: /caf\u00e9', '/caf%C3%A9/x', false],
    ['an encoded star is a star', 'user-agent: *\ndisallow: /a%2Ab', '/a*b', false],
    ['and no wildcard', 'user-agent: *\ndisallow: /a%2Ab', '/axb', true],
    ['an encoded dollar is a dollar', 'user-agent: *\ndisallow: /a%24', '/a$b', false],
    ['a dollar within is a dollar', 'user-agent: *\ndisallow: /a$b', '/a$b', false],
    ['a dollar at the end is the end', 'user-agent: *\ndisallow: /a$', '/ab', true],
    ['which the path has', 'user-agent: *\ndisallow: /a$', '/a', false],
    ['a quote in a query', "user-agent: *\ndisallow: /?q='", "/?q='x", false],
    ['a quote is a character', "user-agent: *\ndisallow: /q'a", '/qa', true],
    ['brackets', 'user-agent: *\ndisallow: /a[1]', '/a[1]', false],
    ['runs of stars', `user-agent: *\ndisallow: /a${'*'.repeat(5000)}b`, `/a${'x'.repeat(2000)}`, true],
    ['which are one star', 'user-agent: *\ndisallow: /a***b', '/axxb', false],
    ['a star at the beginning', 'user-agent: *\ndisallow: *.pdf', '/a/b.pdf', false],
    ['a rule without a slash matches nothing', 'user-agent: *\ndisallow: a', '/a', true],
    ['an empty disallow says nothing', 'user-agent: *\ndisallow:', '/a', true],
    ['half a surrogate pair', 'user-agent: *\ndisallow: /\ud800', '/x', true],
    [
      'a URL longer than 2,048 is matched on its first 2,048',
      `user-agent: *\ndisallow: /a*z$`,
      `/a${'b'.repeat(3000)}z`,
      true,
    ],
    [
      'wildcards beyond measure: a disallow gets wider',
      `user-agent: *\n${`disallow: /a${'*b'.repeat(5000)}\n`.repeat(20)}`,
      '/a',
      false,
    ],
  ])('%s', (_name, robots, path, expected) => {
    expect(allowed(robots, path)).toBe(expected);
  });

  it.each<[string, string, string]>([
    ['a fragment is no part of the path', '/a$', '/a#b'],
    ['a query alone follows a slash', '/?q=1', '?q=1'],
  ])('%s', (_name, rule, path) => {
    expect(parseRobots(`user-agent: *\ndisallow: ${rule}`, 'incrawl').decide(path).allowed).toBe(false);
  });
});

describe('rules with wildcards, of 32 KB together', () => {
  const wild = (length: number, line: number): string => `disallow: ${`/${line}`.padEnd(length - 1, 'x')}*`;
  const full = ['user-agent: *', ...Array.from({ length: 31 }, (_, line) => wild(1024, line))];
  const until = (left: number): string => [...full, wild(1024 - left, 31)].join('\n');
  const rule = '/z*y';

  it('count with all that they hold', () => {
    expect(allowed(`${until(rule.length)}\ndisallow: ${rule}`, '/zz')).toBe(true);
    expect(allowed(`${until(rule.length - 1)}\ndisallow: ${rule}`, '/zz')).toBe(false);
  });

  it('are cut behind the star: a disallow gets wider, an allow is left out', () => {
    expect(allowed(`${until(0)}\ndisallow: ${rule}`, '/q')).toBe(true);
    expect(allowed(`${until(0)}\ndisallow: /z\nallow: ${rule}`, '/zy')).toBe(false);
  });

  it('rules without one cost none of it', () => {
    const plain = `disallow: /${'x'.repeat(1000)}\n`.repeat(40);
    expect(allowed(`user-agent: *\n${plain}disallow: ${rule}`, '/zz')).toBe(true);
  });

  it('rules of two groups of ours count once', () => {
    const agents = 'user-agent: incrawl\ncrawl-delay: 1\nuser-agent: incrawl';
    expect(allowed(`${[agents, ...full.slice(1)].join('\n')}\ndisallow: ${rule}`, '/zz')).toBe(true);
  });
});

describe('groups', () => {
  it.each<[string, string, boolean]>([
    ['ours is found by the product token', 'user-agent: incrawl/2.0 (test)\ndisallow: /', false],
    ['in either case', 'USER-AGENT: InCrawl\nDISALLOW: /', false],
    ['a token that only begins like ours is not ours', 'user-agent: incrawler\ndisallow: /', true],
    ['nor one that ours begins with', 'user-agent: in\ndisallow: /', true],
    ['one of several', 'user-agent: other, incrawl\ndisallow: /', false],
    ['ours without rules does not fall back', 'user-agent: incrawl\n\nuser-agent: *\ndisallow: /', false],
    ['ours with an empty rule does not fall back', 'user-agent: incrawl\ndisallow:\nuser-agent: *\ndisallow: /', true],
    [
      'groups of the same agent are one',
      'user-agent: incrawl\nallow: /x\nuser-agent: b\nallow: /\nuser-agent: incrawl\ndisallow: /',
      false,
    ],
    [
      'a sitemap between agents ends nothing',
      'user-agent: incrawl\nsitemap: http://x/\nuser-agent: b\ndisallow: /',
      false,
    ],
    [
      'a crawl delay between agents ends nothing',
      'user-agent: incrawl\ncrawl-delay: 1\nuser-agent: b\ndisallow: /',
      false,
    ],
    ['an unknown line between agents ends nothing', 'user-agent: incrawl\nfoo: bar\nuser-agent: b\ndisallow: /', false],
    ['rules before the first agent apply to no agent', 'disallow: /\nuser-agent: b\nallow: /', true],
    [
      'one of several after another group',
      'user-agent: b\nallow: /\nuser-agent: incrawl\nuser-agent: c\ndisallow: /',
      false,
    ],
    ['a star with a comment', 'user-agent: * # all\ndisallow: /', false],
    ['a star with words behind it', 'user-agent: * all\ndisallow: /', false],
    ['a star behind a name', 'user-agent: foo *\ndisallow: /', true],
    ['a star and another', 'user-agent: *\nuser-agent: foo\ndisallow: /', false],
    ['our name until a star', 'user-agent: in*\ndisallow: /', false],
    ['a star until the end of our name', 'user-agent: *crawl\ndisallow: /', false],
    ['stars within our name', 'user-agent: i*r*l\ndisallow: /', false],
    ['another end', 'user-agent: i*r*x\ndisallow: /', true],
    ['another beginning', 'user-agent: x*l\ndisallow: /', true],
    ['another middle', 'user-agent: i*x*l\ndisallow: /', true],
    ['a part that has been matched', 'user-agent: in*nc*l\ndisallow: /', true],
    ['the same part twice', 'user-agent: i*w*w*l\ndisallow: /', true],
    ['our name twice', 'user-agent: incrawl*incrawl\ndisallow: /', true],
    ['a name that overlaps itself', 'user-agent: incraw*wl\ndisallow: /', true],
    ['names are cut at 64', `user-agent: i${'*'.repeat(63)}x\ndisallow: /`, false],
  ])('%s', (_name, robots, expected) => {
    expect(allowed(robots, '/a')).toBe(expected);
  });
});

describe('lines', () => {
  it.each<[string, string, boolean]>([
    ['a byte order mark', '\ufeffuser-agent: *\ndisallow: /', false],
    ['which is a character elsewhere', 'user-agent: *\ndisallow: /\ufeffa', true],
    ['carriage returns alone', 'user-agent: *\rdisallow: /', false],
    ['white space before the colon', 'user-agent : *\ndisallow\t: /', false],
    ['no colon', 'user-agent *\ndisallow /', false],
    ['nor a hyphen', 'user agent *\ndisallow   /', false],
    ['a name within a line', 'user-agent: *\n1disallow: /', true],
    ['a name within a line without a colon', 'user-agent: *\n1 disallow /', true],
    ['a misspelt disallow', 'user-agent: *\ndisalow: /', false],
    ['a misspelt user-agent', 'user-agnt: *\ndisallow: /', false],
    ['a name of another letter', 'user-agent: *\nxisallow: /', true],
    ['a name of six letters', 'user-agent: *\ndisalo: /', true],
    ['a name of eleven letters', 'user-agent: *\ndisallowing: /', false],
    ['a name of twelve letters', 'user-agent: *\ndisallowings: /', true],
    ['the last guess', `user-agent: *\n${'nonsense: 1\n'.repeat(999)}disalow: /`, false],
    ['one more than are made', `user-agent: *\n${'nonsense: 1\n'.repeat(1000)}disalow: /`, true],
    ['never a guess at allow', 'user-agent: *\ndisallow: /\nalow: /', false],
    ['HTML at the end of lines', 'user-agent: *<br>\ndisallow: /<br />', false],
    ['white space before it', 'user-agent: *\ndisallow: /a <br>', false],
    ['HTML within a line', 'user-agent: *\ndisallow: /<b>a<br>', true],
    ['four tags', 'user-agent: *\ndisallow: /<b><b><b><b>', false],
    ['five', 'user-agent: *\ndisallow: /<b><b><b><b><b>', true],
    ['what is no tag', 'user-agent: *\ndisallow: /<b c>', true],
    ['a page instead of a file', '<!doctype html><title>404</title>\n<p>disallow: /</p>', true],
  ])('%s', (_name, robots, expected) => {
    expect(allowed(robots, '/a')).toBe(expected);
  });

  it('names the rule that decided as it is written', () => {
    const robots = '# file\n\nUser-agent: *\n  Disallow: /%7Euser/ # no\nAllow: /~user/me\n';
    expect(parseRobots(robots, 'incrawl').decide('/~user/x')).toEqual({
      allowed: false,
      rule: { line: 4, text: 'Disallow: /%7Euser/' },
    });
    expect(parseRobots(robots, 'incrawl').decide('/~user/me').rule?.line).toBe(5);
  });

  it('names the first of rules that are the same, at 200 characters', () => {
    const rule = `disallow: /${'x'.repeat(300)}`;
    expect(parseRobots(`user-agent: *\n${rule}\n${rule}`, 'incrawl').decide(`/${'x'.repeat(300)}`).rule).toEqual({
      line: 2,
      text: rule.slice(0, 200),
    });
  });

  it('leaves out a rule that the limit cuts through', () => {
    const filler = 'user-agent: *\n#'.padEnd(500 * 1024 - 'disallow: /\n'.length, 'x');
    expect(allowed(`${filler}\ndisallow: /`, '/p')).toBe(false);
    expect(['/p', '/private'].map((path) => allowed(`${filler}\ndisallow: /private`, path))).toEqual([true, true]);
    expect(allowed(`${filler}\ndisallow: /private\ndisallow: /other\n`, '/private')).toBe(true);
    const shorter = filler.slice(0, -'disallow: /pq\n'.length);
    expect(['/p', '/pq'].map((path) => allowed(`${shorter}\ndisallow: /pq\ndisallow: /private`, path))).toEqual([
      true,
      false,
    ]);
  });
});

describe('crawl delays', () => {
  it.each<[string, number | null]>([
    ['10', 10],
    ['0.5', 0.5],
    ['1,5', 1.5],
    ['1.25', 1.25],
    ['.25', 0.25],
    ['0', 0],
    ['10s', 10],
    ['-1', null],
    ['soon', null],
    ['Infinity', null],
    ['1e999', 1],
    ['99999999', 86_400],
    ['9'.repeat(400), 86_400],
  ])('%s', (value, expected) => {
    expect(parseRobots(`user-agent: *\ncrawl-delay: ${value}`, 'incrawl').crawlDelay).toBe(expected);
  });

  it('belongs to the agents since the delay before', () => {
    const robots =
      'user-agent: a\ncrawl-delay: 1\nuser-agent: b\nuser-agent: c\ncrawl-delay: 2\nuser-agent: d\ndisallow: /x';
    expect(['a', 'b', 'c', 'd'].map((agent) => parseRobots(robots, agent).crawlDelay)).toEqual([1, 2, 2, null]);
    expect(['a', 'b', 'c', 'd'].map((agent) => allowed(robots, '/x', agent))).toEqual([false, false, false, false]);
  });
});

it.each<[string, string, number | null]>([
  ['the longest of ours', 'user-agent: incrawl\ncrawl-delay: 1\nuser-agent: incrawl\ncrawl-delay: 5', 5],
  ['whichever comes first', 'user-agent: incrawl\ncrawl-delay: 5\nuser-agent: incrawl\ncrawl-delay: 1', 5],
  ['not that of the agent behind', 'user-agent: incrawl\ncrawl-delay: soon\nuser-agent: b\ncrawl-delay: 2', null],
  ['that of the group', 'user-agent: incrawl\nuser-agent: b\ndisallow: /a\ncrawl-delay: 2', 2],
])('crawl delay, %s', (_name, robots, expected) => {
  expect(parseRobots(robots, ' incrawl/1 ').crawlDelay).toBe(expected);
});

describe('sitemaps', () => {
  it.each<[string, string, string[]]>([
    ['as written', 'http://Example.org/A.xml', ['http://Example.org/A.xml']],
    ['a URL within a path', '/go?to=http://a/', ['http://example.org/go?to=http://a/']],
    ['no host', 'http://', []],
    ['another scheme', 'xhttp://a/b', []],
  ])('%s', (_name, written, expected) => {
    const robots = `sitemap: ${written}`;
    expect(checkRobots({ robots, agent: 'incrawl', url: 'http://example.org/' }).sitemaps).toEqual(expected);
  });

  it('are 1,000 at most', () => {
    const robots = Array.from({ length: 1_001 }, (_, i) => `sitemap: http://a/${i}`).join('\n');
    expect(parseRobots(robots, 'incrawl').sitemaps).toHaveLength(1_000);
  });

  it('are everybody\u2019s, once, absolute', () => {
    const robots =
      'Sitemap: https://example.org/a.xml\nuser-agent: b\nSITEMAP: /b.xml\nSitemap: /b.xml\nsitemap: javascript:x\nsitemap:';
    expect(checkRobots({ robots, agent: 'incrawl', url: 'http://example.org/' }).sitemaps).toEqual([
      'https://example.org/a.xml',
      'http://example.org/b.xml',
    ]);
  });
});

describe('decodeRobots', () => {
  it.each([
    ['UTF-8', Buffer.from('disallow: /\u00e9')],
    ['UTF-8 with a mark', Buffer.from('\ufeffdisallow: /\u00e9')],
    ['UTF-16 little endian', Buffer.from('\ufeffdisallow: /\u00e9', 'utf16le')],
    ['UTF-16 big endian', Buffer.from('\ufeffdisallow: /\u00e9', 'utf16le').swap16()],
    ['UTF-16 little endian without a mark', Buffer.from('disallow: /\u00e9', 'utf16le')],
    ['UTF-16 big endian without a mark', Buffer.from('disallow: /\u00e9', 'utf16le').swap16()],
    ['Latin-1', Buffer.from('disallow: /\u00e9', 'latin1')],
  ])('%s', (_name, bytes) => {
    expect(decodeRobots(bytes)).toBe('disallow: /\u00e9');
  });
});

it('never throws, and gives the same answer for a path however it is spelled', () => {
  const paths = fc.string({
    unit: fc.constantFrom('/', 'a', 'b', '~', '-', '%7E', '%7e', '%61', '*', '%2A', '?', '='),
  });
  fc.assert(
    fc.property(paths, paths, fc.string(), (rule, path, noise) => {
      const spelled = path.replaceAll('%61', 'a').replaceAll(/%7e/gi, '~');
      const parsed = parseRobots(`${noise}\nuser-agent: *\ndisallow: /${rule}\n${noise}`, 'incrawl');
      expect(parsed.decide(`/${spelled}`)).toEqual(parsed.decide(`/${path}`));
    }),
  );
});
