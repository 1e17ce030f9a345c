import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PluginKind } from '../../../src/core/plugin-host/api/plugin-api.ts';
import { testHost, testPlugin } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import {
  contentTag,
  loadPlugins,
  MAIN_THREAD_KINDS,
  WORKER_KINDS,
} from '../../../src/core/plugin-host/loading/load-plugins.ts';
import { DEFAULT_PLUGIN_LIST, parsePluginList } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { importPlugin, resolvePlugin } from '../../../src/core/plugin-host/loading/resolve-plugin.ts';
import { scaffoldPlugin } from '../../../src/core/plugin-host/loading/scaffold.ts';
import { parsePage } from '../../../src/core/plugin-host/parsing/parse-page.ts';
import { applyUrlChain } from '../../../src/core/plugin-host/url-chain.ts';

const root = resolve(import.meta.dirname, '../../..');
const common = {
  baseDir: root,
  log: testHost.log,
  http: testHost.http,
  agent: testHost.agent,
  intervals: testHost.intervals,
  now: testHost.now,
};
const EVERY_KIND = new Set<PluginKind>([...MAIN_THREAD_KINDS, ...WORKER_KINDS]);
const listOf = (text: string) => parsePluginList(text, 'conf/plugins.yaml');

describe('the shipped plugins', () => {
  it('conf/plugins.yaml and the built-in list agree', async () => {
    const shipped = listOf(await readFile(join(root, 'conf/plugins.yaml'), 'utf8'));
    expect(shipped.entries.map((entry) => entry.use)).toEqual(DEFAULT_PLUGIN_LIST.entries.map((entry) => entry.use));
  });

  it.each(DEFAULT_PLUGIN_LIST.entries.map((entry) => [entry.use, entry] as const))(
    '%s keeps the contract of its kind',
    async (_name, entry) => {
      await testPlugin(await importPlugin(resolvePlugin(entry, root), entry));
    },
  );

  it('all load together, in order, and serve what they claim', async () => {
    const loaded = await loadPlugins({ ...common, list: DEFAULT_PLUGIN_LIST, kinds: EVERY_KIND });
    expect([...loaded.protocols.keys()].sort()).toEqual(['http', 'https']);
    expect(loaded.parserFor('text/html')?.name).toBe('parse-html');
    expect(loaded.parserFor('application/atom+xml')?.name).toBe('parse-feed');
    expect(loaded.parserFor('image/png')).toBeUndefined();
    expect([...loaded.schedules.keys()]).toEqual(['freshness', 'similarity', 'adaptive', 'fixed']);
    expect([...loaded.signatures.keys()]).toEqual(['simhash', 'simhash-js', 'digest', 'text-profile']);
  });
});

describe('versions of signed texts', () => {
  const contentOf = async (plugins: string, type = 'text/html') => {
    const loaded = await loadPlugins({ ...common, list: listOf(`plugins:\n${plugins}`), kinds: EVERY_KIND });
    return loaded.parserFor(type)?.content;
  };

  it('are those of the parser and parse filters, in order; filters that change no text are left out', async () => {
    const shipped = await loadPlugins({ ...common, list: DEFAULT_PLUGIN_LIST, kinds: EVERY_KIND });
    expect(shipped.parserFor('text/html')?.content).toBe('html1.main5');
    expect(await contentOf('  - parse-html\n  - parsefilter-noise-links\n')).toBe('html1');
    expect(await contentOf('  - parse-html\n  - parsefilter-blocks\n')).toBe('html1.blocks1');
    expect(await contentOf('  - parse-text\n', 'text/plain')).toBe('text1');
    expect(await contentOf('  - parse-feed\n', 'application/atom+xml')).toBe('feed1');
  });

  it('moves with options, and only then', async () => {
    const filter = (options: string) => contentOf(`  - parse-html\n  - parsefilter-main-content: ${options}\n`);
    expect(await filter('{ minChars: 80 }')).toBe('html1.main5');
    const [short, published] = [await filter('{ minChars: 10 }'), await filter('{ mode: published }')];
    expect(short).toMatch(/^html1\.main5-[0-9a-f]{4}$/);
    expect(published).toMatch(/^html1\.published1-[0-9a-f]{4}$/);
    expect(await filter('{ minChars: 10 }')).toBe(short);
    expect(await filter('{ minChars: 11 }')).not.toBe(short);
  });

  it.each([
    [{}, {}, 'other'],
    [{}, { a: 1 }, 'other-df4f'],
    [{ content: 'pdf2' }, {}, 'pdf2'],
    [{ content: '' }, { a: 1 }, ''],
  ])('%j with options %j is %j', (source, options, tag) => {
    expect(contentTag(source, 'oth-er', options, {})).toBe(tag);
  });

  it('refuses words that would blur the name', () => {
    expect(() => contentTag({ content: 'pdf 2.0' }, 'pdf', {}, {})).toThrow('letters and digits');
  });
});

describe('the plugin list', () => {
  it.each([
    ['plugins:\n  - parse-htm\n', 'did you mean parse-html'],
    ['plugins:\n  - parse-html\n  - parse-html\n', 'listed twice'],
    ['plugins:\n  - scoring-depth: { decai: 1 }\n', 'decai'],
    ['plugins:\n  - schedule-fixed: { x: 1 }\n', 'no options'],
  ])('%j is refused, and said where', async (text, words) => {
    const loading = (async () => loadPlugins({ ...common, list: listOf(text), kinds: EVERY_KIND }))();
    await expect(loading).rejects.toThrow(words);
    await expect(loading).rejects.toThrow(/conf\/plugins\.yaml:\d+:\d+/);
  });

  it.each([
    ['plugin:\n  - x\n', 'did you mean plugins'],
    ['plugins: 3\n', 'expected a list'],
    ['plugins:\n  - 3\n', 'expected a plugin name'],
    ['plugins:\n  - a: 1\n    b: 2\n', 'expected one plugin name'],
  ])('%j is not a list of plugins', (text, words) => {
    expect(() => listOf(text)).toThrow(words);
  });
});

describe('a new plugin', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'incrawl-plugin-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it.each([...EVERY_KIND])('of kind %s is written, loads without a build step and keeps its contract', async (kind) => {
    const name = `${kind}-sample`;
    const files = await scaffoldPlugin(name, join(dir, 'plugins'));
    expect(files).toHaveLength(3);
    // The types of node:test let a test give back nothing.
    expect(await readFile(files[1] as string, 'utf8')).toContain('async () => {\n  await testPlugin(plugin);\n});');
    const entry = { use: name, options: {}, where: 'test' };
    const resolved = resolvePlugin(entry, dir);
    expect(resolved).toMatchObject({ bundled: false, file: files[0] });
    const protocol = testHost.http.createGotProtocol();
    await testPlugin(await importPlugin(resolved, entry), {
      host: { ...testHost, http: { ...testHost.http, createGotProtocol: () => protocol } },
    });
    await expect(scaffoldPlugin(name, dirname(dirname(files[0] as string)))).rejects.toThrow('exists already');
  });

  it('with a name of no kind is refused', async () => {
    await expect(scaffoldPlugin('nonsense', dir)).rejects.toMatchObject({ code: 'usage-invalid' });
    await expect(scaffoldPlugin('parse-../x', dir)).rejects.toMatchObject({ code: 'usage-invalid' });
  });
});

describe('guards', () => {
  const context = { from: null, depth: 0, seedHosts: new Set<string>() };

  it('a filter or normaliser that throws keeps the URL out and is named', () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    expect(
      applyUrlChain(
        { normalizers: [], filters: [{ name: 'urlfilter-x', extension: { filter: broken } }] },
        'http://example.org/',
        context,
      ),
    ).toEqual({ url: null, reason: 'plugin-failed: urlfilter-x: broken', by: 'urlfilter-x' });
    expect(
      applyUrlChain(
        { normalizers: [{ name: 'urlnormalizer-x', extension: { normalize: broken } }], filters: [] },
        'http://example.org/',
        context,
      ).reason,
    ).toBe('plugin-failed: urlnormalizer-x: broken');
  });

  it('a parser that throws, and a type without a parser, give a parse-failed record', async () => {
    const loaded = await loadPlugins({ ...common, list: DEFAULT_PLUGIN_LIST, kinds: WORKER_KINDS });
    const signature = loaded.signatures.get('simhash');
    if (signature === undefined) throw new Error('no signature');
    const limits = { maxTextChars: 100, maxOutlinks: 10, storeText: true };
    const page = {
      index: 3,
      url: 'http://example.org/',
      contentType: 'image/png',
      headers: {},
      body: new Uint8Array([1, 2]),
      metadata: {},
    };
    expect((await parsePage(page, loaded, signature, limits)).outcome).toMatchObject({ code: 'parse-unsupported' });
    const throwing = {
      ...loaded,
      parserFor: () => ({
        name: 'parse-x',
        content: '',
        extension: {
          types: [],
          parse: () => {
            throw new Error('broken');
          },
        },
      }),
    };
    expect((await parsePage(page, throwing, signature, limits)).outcome).toEqual({
      kind: 'parse-failed',
      code: 'parse-failed',
      message: 'parse-x: broken',
    });
  });
});
