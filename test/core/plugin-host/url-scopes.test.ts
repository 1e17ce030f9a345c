import { describe, expect, it } from 'vitest';
import type { UrlExemption, UrlFilter, UrlNormalizer } from '../../../src/core/plugin-host/api/plugin-api.ts';
import { testPlugin } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import { scopedNormalizers } from '../../../src/core/plugin-host/loading/checked-extension.ts';
import { parsePluginList } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import {
  applyUrlChain,
  explainUrlChain,
  normalizedUrl,
  type UrlPlugins,
} from '../../../src/core/plugin-host/url-chain.ts';

const CONTEXT = { from: null, depth: 0, seedHosts: new Set<string>() };
const dropping = (name: string): { name: string; extension: UrlNormalizer } => ({
  name: `urlnormalizer-${name}`,
  extension: { normalize: (url) => url.replace(`/${name}`, '') },
});
const NORMALIZERS = [dropping('a'), dropping('b')];
const chain = (scopes: Parameters<typeof scopedNormalizers>[1]): UrlPlugins => ({
  normalizers: NORMALIZERS,
  filters: [],
  scopes: scopedNormalizers(NORMALIZERS, scopes),
});
const urlIn = (plugins: UrlPlugins, scope?: 'inject' | 'generate' | 'fetcher' | 'outlink') =>
  applyUrlChain(plugins, 'http://h.example/a/b/c', { ...CONTEXT, ...(scope && { scope }) }).url;

describe('scopes of normalisers', () => {
  it('without scopes all run everywhere', () => {
    for (const scope of [undefined, 'inject', 'generate', 'fetcher', 'outlink'] as const)
      expect(urlIn(chain({}), scope)).toBe('http://h.example/c');
  });

  it('a scope has those that are named for it, and others those of the default', () => {
    const plugins = chain({ inject: [], outlink: ['urlnormalizer-b'], default: ['urlnormalizer-a'] });
    expect(urlIn(plugins, 'inject')).toBe('http://h.example/a/b/c');
    expect(urlIn(plugins, 'outlink')).toBe('http://h.example/a/c');
    expect(urlIn(plugins, 'fetcher')).toBe('http://h.example/b/c');
    expect(urlIn(plugins)).toBe('http://h.example/b/c');
    expect(normalizedUrl(plugins, 'http://h.example/a/b/c').url).toBe('http://h.example/b/c');
  });

  it('known URLs keep the form that another scope gave them, unless generate is named', () => {
    expect(urlIn(chain({ inject: [] }), 'generate')).toBe('http://h.example/a/b/c');
    expect(urlIn(chain({ inject: [], generate: ['urlnormalizer-a'] }), 'generate')).toBe('http://h.example/b/c');
  });

  it('the order of a scope is its own, and the plugin is given the scope', () => {
    const met: string[] = [];
    const noting = (name: string) => ({
      name,
      extension: {
        normalize: (url: string, scope?: string) => {
          met.push(`${name} ${scope}`);
          return url;
        },
      },
    });
    const both = [noting('one'), noting('two')];
    const scopes = scopedNormalizers(both, { fetcher: ['two', 'one'] });
    applyUrlChain({ normalizers: both, filters: [], scopes }, 'http://h.example/', { ...CONTEXT, scope: 'fetcher' });
    explainUrlChain({ normalizers: both, filters: [], scopes }, 'http://h.example/', CONTEXT);
    expect(met).toEqual(['two fetcher', 'one fetcher', 'one default', 'two default']);
  });

  it('mistakes are named with their place', () => {
    const read = (text: string) => () => parsePluginList(text, 'plugins.yaml');
    expect(parsePluginList('scopes: {inject: [urlnormalizer-basic], fetcher: []}', 'p.yaml').scopes).toEqual({
      inject: ['urlnormalizer-basic'],
      fetcher: [],
    });
    expect(read('scopes: {injct: []}')).toThrow(/plugins.yaml:1:9 scopes: unknown scope injct/);
    expect(read('scopes: {inject: urlnormalizer-basic}')).toThrow(/inject: expected a list/);
    expect(() => chain({ inject: ['urlfilter-rules'] })).toThrow(
      'scopes.inject: urlfilter-rules is no URL normalizer of the list of plugins; those are: urlnormalizer-a, urlnormalizer-b',
    );
  });
});

describe('exemptions from refusals of filters', () => {
  const refusing = (name: string, pattern: RegExp): { name: string; extension: UrlFilter } => ({
    name,
    extension: {
      filter: (url) => (pattern.test(url) ? { accept: false, reason: `${name} says no` } : { accept: true }),
    },
  });
  const filters = [refusing('urlfilter-scope', /other/), refusing('urlfilter-late', /never/)];
  const exempting = (exempt: UrlExemption['exempt']) => [{ name: 'urlexemption-pictures', extension: { exempt } }];
  const pictures = exempting((url, { by }, { from }) =>
    by === 'urlfilter-scope' && from !== null && url.endsWith('.png')
      ? { exempt: true, reason: 'a picture of a page' }
      : { exempt: false },
  );
  const judged = (url: string, exemptions: UrlPlugins['exemptions'], from: string | null = 'http://h.example/') =>
    applyUrlChain({ normalizers: [], filters, ...(exemptions && { exemptions }) }, url, { ...CONTEXT, from });

  it('let in what they exempt, and nothing else', () => {
    const url = 'http://other.example/x.png';
    expect(judged(url, undefined)).toMatchObject({ url: null, by: 'urlfilter-scope' });
    expect(judged(url, pictures)).toEqual({ url, reason: null });
    expect(judged(url, pictures, null)).toMatchObject({ url: null, by: 'urlfilter-scope' });
    expect(judged('http://other.example/x.html', pictures)).toMatchObject({
      url: null,
      reason: 'urlfilter-scope says no',
    });
  });

  it('the filters behind still judge, and each refusal is asked about', () => {
    expect(judged('http://other.example/never.png', pictures)).toMatchObject({ url: null, by: 'urlfilter-late' });
    const met: string[] = [];
    const all = exempting((_url, { by, reason }) => {
      met.push(`${by}: ${reason}`);
      return { exempt: true, reason: 'all' };
    });
    expect(judged('http://other.example/never.png', all).url).not.toBeNull();
    expect(met).toEqual(['urlfilter-scope: urlfilter-scope says no', 'urlfilter-late: urlfilter-late says no']);
  });

  it('a fault keeps the URL out and is named; the trace shows exemptions', () => {
    const broken = exempting(() => {
      throw new Error('boom');
    });
    const fault = { url: null, by: 'urlexemption-pictures', reason: 'plugin-failed: urlexemption-pictures: boom' };
    expect(judged('http://other.example/x.png', broken)).toEqual(fault);
    expect(
      judged(
        'http://other.example/x.png',
        exempting(() => ({}) as never),
      ),
    ).toMatchObject({ url: null });
    expect(
      judged(
        'http://other.example/x.png',
        exempting(() => ({ exempt: true }) as never),
      ),
    ).toMatchObject({ url: null });
    const plugins = { normalizers: [], filters, exemptions: pictures };
    const context = { ...CONTEXT, from: 'http://h.example/' };
    const { url, steps } = explainUrlChain(plugins, 'http://other.example/x.png', context);
    expect(url).toBe('http://other.example/x.png');
    expect(steps.at(-2)).toMatchObject({
      name: 'urlexemption-pictures',
      note: 'exempted from urlfilter-scope: a picture of a page',
    });
  });

  it('have a contract', async () => {
    const plugin = (exempt: unknown) =>
      ({ name: 'urlexemption-x', api: 1, setup: () => ({ exempt }) }) as Parameters<typeof testPlugin>[0];
    await testPlugin(plugin(() => ({ exempt: false })));
    await expect(testPlugin(plugin(() => ({ exempt: true, reason: '' })))).rejects.toThrow('with its reason');
    await expect(testPlugin(plugin(() => true))).rejects.toThrow('a verdict with exempt');
    let calls = 0;
    const fickle = () => (calls++ % 2 === 0 ? { exempt: false } : { exempt: true, reason: 'odd' });
    await expect(testPlugin(plugin(fickle))).rejects.toThrow('the same verdict');
  });
});
