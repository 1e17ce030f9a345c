import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unusedProxies } from '../../src/crawler/proxies.ts';
import { type LocalSite, startSite } from '../cli/support/local-site.ts';
import { run } from '../support/program.ts';
import { workDir } from '../support/work-dir.ts';

const PROXY = { HTTPS_PROXY: 'http://proxy.example:3128' };

describe('proxies of the environment', () => {
  const warned = (env: Record<string, string>, ...rounds: string[][]): string[] => {
    const warnings: string[] = [];
    const note = unusedProxies(env, (host) => host.startsWith('127.'), { warn: (text) => void warnings.push(text) });
    for (const hosts of rounds) note(hosts);
    return warnings;
  };

  it('are said not to be used, once', () => {
    const env = { http_proxy: 'http://p:1', ALL_PROXY: 'socks5://p:2', HTTPS_PROXY: '' };
    expect(warned(env, ['127.0.0.1:80', 'a.example'], ['b.example'])).toEqual([
      expect.stringMatching(/^http_proxy, ALL_PROXY of the environment: proxies are not used, .* direct connection$/),
    ]);
  });

  it.each<[string, Record<string, string>, string[], boolean]>([
    ['no variable', { NO_PROXY: 'x' }, ['a.example'], false],
    ['an empty variable', { HTTP_PROXY: '' }, ['a.example'], false],
    ['own hosts alone', PROXY, ['127.0.0.1:8080'], false],
    ['NO_PROXY of all', { ...PROXY, NO_PROXY: '*' }, ['a.example'], false],
    ['NO_PROXY of the host', { ...PROXY, NO_PROXY: 'b.example, a.example' }, ['a.example:8080'], false],
    ['NO_PROXY of the domain', { ...PROXY, no_proxy: '.example' }, ['www.a.example'], false],
    ['NO_PROXY of the port', { ...PROXY, NO_PROXY: 'a.example:8080' }, ['a.example:8080'], false],
    ['NO_PROXY of another port', { ...PROXY, NO_PROXY: 'a.example:8080' }, ['a.example:81'], true],
    ['NO_PROXY of a name that ends alike', { ...PROXY, NO_PROXY: 'a.example' }, ['ba.example'], true],
    ['a host beside exempt ones', { ...PROXY, NO_PROXY: 'a.example' }, ['a.example', 'c.example'], true],
  ])('%s', (_case, env, hosts, isWarned) => expect(warned(env, hosts)).toHaveLength(isWarned ? 1 : 0));
});

describe('crawl', () => {
  let site: LocalSite;
  beforeAll(async () => {
    site = await startSite({ pages: 1 });
  });
  afterAll(() => site.close());
  const quick = ['--delay', '0', '--rounds', '1', '-D', 'http.connectTimeout=1s', '--contact', 'me@example.org'];

  it('of loopback hosts is silent about a proxy, and asks the servers themselves', async () => {
    const args = ['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--dir', workDir(), ...quick];
    const { code, stderr } = await run(args, { env: { ...PROXY, HTTP_PROXY: 'http://127.0.0.1:9' } });
    expect(code).toBe(0);
    expect(stderr).not.toContain('proxies');
    expect(site.log).toContain('/');
  });

  it('of other hosts says so before the first round', async () => {
    const args = ['crawl', 'https://incrawl.invalid/', '--dir', workDir(), ...quick];
    const { stderr } = await run(args, { env: { ...PROXY, NO_PROXY: '', no_proxy: '' } });
    expect(stderr.match(/proxies are not used/g)).toHaveLength(1);
  });
});
