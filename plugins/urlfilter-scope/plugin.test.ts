import type { PluginHost } from 'incrawl/plugin';
import { describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

type RawOptions = Record<string, unknown>;

async function accepts(options: RawOptions, url: string, seedHosts: readonly string[], depth = 1): Promise<boolean> {
  const filter = await plugin.setup({} as PluginHost, plugin.options!.parse(options));
  return filter.filter(url, { from: null, depth, seedHosts: new Set(seedHosts) }).accept;
}

describe('urlfilter-scope', () => {
  it.each<[RawOptions, string, readonly string[], boolean]>([
    // host
    [{}, 'http://a.org/x', ['a.org'], true],
    [{}, 'https://a.org/x', ['a.org'], true],
    [{}, 'https://www.a.org/x', ['a.org'], true],
    [{}, 'https://a.org/x', ['www.a.org'], true],
    [{}, 'http://b.a.org/x', ['a.org'], false],
    [{}, 'http://a.org.evil.example/x', ['a.org'], false],
    [{}, 'http://a.org:8080/x', ['a.org'], false],
    [{}, 'http://127.0.0.1:8080/x', ['127.0.0.1:8080'], true],
    [{}, 'http://127.0.0.1:8081/x', ['127.0.0.1:8080'], false],
    [{}, 'http://[::1]:8080/x', ['[::1]:8080'], true],
    [{ hosts: ['B.org', 'c.org:81'] }, 'http://b.org/', ['a.org'], true],
    [{ hosts: ['B.org', 'c.org:81'] }, 'http://c.org/', ['a.org'], false],
    [{ hosts: ['bücher.example'] }, 'http://xn--bcher-kva.example/', ['a.org'], true],
    [{ domains: ['b.org'] }, 'http://x.y.b.org:81/', ['a.org'], true],
    [{ domains: ['b.org'] }, 'http://xb.org/', ['a.org'], false],
    // domain
    [{ mode: 'domain' }, 'http://x.a.co.uk/', ['news.a.co.uk'], true],
    [{ mode: 'domain' }, 'http://b.co.uk/', ['news.a.co.uk'], false],
    [{ mode: 'domain' }, 'http://x.a.org:8080/', ['a.org'], true],
    [{ mode: 'domain' }, 'http://b.github.io/', ['a.github.io'], false],
    [{ mode: 'domain' }, 'http://b.github.io/', ['github.io'], false],
    [{ mode: 'domain' }, 'http://github.io/', ['github.io'], true],
    [{ mode: 'domain' }, 'http://127.0.0.1:1/', ['127.0.0.1:1'], true],
    [{ mode: 'domain' }, 'http://128.0.0.1/', ['127.0.0.1'], false],
    // path
    [{ mode: 'path', paths: ['/docs/'] }, 'http://a.org/docs/x', ['a.org'], true],
    [{ mode: 'path', paths: ['/docs/'] }, 'http://b.org/docs/x', ['a.org'], false],
    [{ mode: 'path', paths: ['/docs'] }, 'http://a.org/docs?x', ['a.org'], true],
    [{ mode: 'path', paths: ['/docs'] }, 'http://a.org/docs2', ['a.org'], false],
    [{ mode: 'path', paths: ['/docs/'] }, 'http://a.org/x/docs/', ['a.org'], false],
    [{ mode: 'path', paths: ['HTTPS://B.org:443/docs/', '/x'] }, 'http://b.org/docs/y', ['a.org'], true],
    [{ mode: 'path', paths: ['http://b.org/docs/'] }, 'http://a.org/docs/y', ['a.org'], false],
    // list and any
    [{ mode: 'list', hosts: ['b.org'] }, 'http://a.org/', ['a.org'], false],
    [{ mode: 'list', hosts: ['b.org'] }, 'http://b.org/', ['a.org'], true],
    [{ mode: 'list', hosts: ['b.org'] }, 'http://a.org/', [], false],
    [{ mode: 'any' }, 'http://z.org/', ['a.org'], true],
    // a check knows no seeds
    [{}, 'http://z.org/', [], true],
    [{ mode: 'domain' }, 'http://z.org/', [], true],
    [{ mode: 'path', paths: ['/docs/'] }, 'http://z.org/docs/', [], true],
    [{ mode: 'path', paths: ['/docs/'] }, 'http://z.org/', [], false],
  ])('%j: %s from seeds at %j -> %s', async (options, url, seedHosts, expected) => {
    expect(await accepts(options, url, seedHosts)).toBe(expected);
  });

  it('counts links from the seed in every mode', async () => {
    for (const mode of ['host', 'any']) {
      expect(await accepts({ mode, maxDepth: 2 }, 'http://a.org/', ['a.org'], 2)).toBe(true);
      expect(await accepts({ mode, maxDepth: 2 }, 'http://a.org/', ['a.org'], 3)).toBe(false);
    }
  });

  it('gives reasons that begin with stable words', async () => {
    const filter = await plugin.setup({} as PluginHost, plugin.options!.parse({ maxDepth: 0 }));
    const seedHosts = new Set(['a.org']);
    expect(filter.filter('http://b.org/', { from: null, depth: 0, seedHosts })).toEqual({
      accept: false,
      reason: 'host not in scope: b.org',
    });
    expect(filter.filter('http://a.org/', { from: null, depth: 1, seedHosts })).toEqual({
      accept: false,
      reason: 'more than 0 links from a seed',
    });
  });

  it('notices seeds that are added while it runs', async () => {
    const filter = await plugin.setup({} as PluginHost, plugin.options!.parse({}));
    const seedHosts = new Set(['a.org']);
    const context = { from: null, depth: 0, seedHosts };
    expect(filter.filter('http://b.org/', context).accept).toBe(false);
    seedHosts.add('b.org');
    expect(filter.filter('http://b.org/', context).accept).toBe(true);
  });

  it.each<[RawOptions, string]>([
    [{ mode: 'list' }, 'mode list needs hosts or domains'],
    [{ mode: 'path' }, 'mode path needs paths'],
    [{ paths: ['/x'] }, 'paths have no effect in mode host'],
    [{ mode: 'any', hosts: ['a.org'] }, 'hosts have no effect in mode any'],
    [{ mode: 'any', domains: ['a.org'] }, 'domains have no effect in mode any'],
    [{ hosts: ['http://a.org/'] }, 'expected a host such as example.org'],
    [{ domains: ['a.org:81'] }, 'expected a domain such as example.org'],
    [{ mode: 'path', paths: ['docs/'] }, 'expected /path/ or http://host/path/'],
    [{ mode: 'path', paths: ['/x?y'] }, 'expected /path/ or http://host/path/'],
    [{ modes: 'host' }, 'modes'],
  ])('refuses %j', (options, message) => {
    const result = plugin.options!.safeParse(options);
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain(message);
  });
});
