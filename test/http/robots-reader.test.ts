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
    ['a quote in a query', "user-agent: *\ndisallow: /?q='", "/?q='x", false],
    ['brackets', 'user-agent: *\ndisallow: /a[1]', '/a[1]', false],
    ['runs of stars', `user-agent: *\ndisallow: /a${'*'.repeat(5000)}b`, `/a${'x'.repeat(2000)}`, true],
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
    ['a star with a comment', 'user-agent: * # all\ndisallow: /', false],
  ])('%s', (_name, robots, expected) => {
    expect(allowed(robots, '/a')).toBe(expected);
  });
});

describe('lines', () => {
  it.each<[string, string, boolean]>([
    ['a byte order mark', '\ufeffuser-agent: *\ndisallow: /', false],
    ['carriage returns alone', 'user-agent: *\rdisallow: /', false],
    ['white space before the colon', 'user-agent : *\ndisallow\t: /', false],
    ['no colon', 'user-agent *\ndisallow /', false],
    ['a misspelt disallow', 'user-agent: *\ndisalow: /', false],
    ['a misspelt user-agent', 'useragent: *\ndisallow: /', false],
    ['never a guess at allow', 'user-agent: *\ndisallow: /\nalow: /', false],
    ['HTML at the end of lines', 'user-agent: *<br>\ndisallow: /<br />', false],
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

  it('leaves out a rule that the limit cuts through', () => {
    const filler = 'user-agent: *\n#'.padEnd(500 * 1024 - 'disallow: /\n'.length, 'x');
    expect(allowed(`${filler}\ndisallow: /`, '/p')).toBe(false);
    expect(allowed(`${filler}\ndisallow: /private`, '/p')).toBe(true);
  });
});

describe('crawl delays', () => {
  it.each<[string, number | null]>([
    ['10', 10],
    ['0.5', 0.5],
    ['1,5', 1.5],
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

describe('sitemaps', () => {
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
