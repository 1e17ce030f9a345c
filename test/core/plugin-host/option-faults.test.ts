import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { definePlugin } from '../../../src/core/plugin-host/api/plugin-api.ts';
import { testHost, testPlugin } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import { optionFaults } from '../../../src/core/plugin-host/loading/checked-extension.ts';
import { loadPlugins, MAIN_THREAD_KINDS, WORKER_KINDS } from '../../../src/core/plugin-host/loading/load-plugins.ts';
import { parsePluginList } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { pluginViews } from '../../../src/operations/plugins/plugin-views.ts';

const schema = z.strictObject({ wordsPerMinute: z.number().optional(), inner: z.strictObject({ depth: z.number() }) });
const faultsOf = (value: unknown) => optionFaults(schema, schema.safeParse(value).error?.issues ?? []);

test('each misspelt option is reported with the near name and its position', () => {
  expect(faultsOf({ wordsPerMinutes: 3, zzzzzzz: 1, inner: { depht: 1, depth: 2 } })).toEqual(
    expect.arrayContaining([
      { path: ['wordsPerMinutes'], message: 'unknown option, did you mean wordsPerMinute?' },
      { path: ['zzzzzzz'], message: 'unknown option' },
      { path: ['inner', 'depht'], message: 'unknown option, did you mean depth?' },
    ]),
  );
});

test('other faults stay what the schema says', () => {
  expect(faultsOf({ inner: { depth: 'x' } })).toMatchObject([
    { path: ['inner', 'depth'], message: expect.stringContaining('expected number') },
  ]);
});

test('a misspelt option in plugins.yaml is refused with file, line and the near name', async () => {
  const baseDir = mkdtempSync(join(tmpdir(), 'incrawl-options-'));
  onTestFinished(() => rmSync(baseDir, { recursive: true }));
  const list = parsePluginList('plugins:\n  - urlfilter-scope: { modee: host }\n', 'plugins.yaml');
  const { log, http, agent, intervals, now } = testHost;
  await expect(
    loadPlugins({ list, baseDir, log, http, agent, intervals, now, kinds: MAIN_THREAD_KINDS }),
  ).rejects.toMatchObject({
    code: 'config-invalid',
    message: 'plugins.yaml:2:5 urlfilter-scope.modee: unknown option, did you mean mode?',
  });
});

/** Loads a plugin of the operator's own, with these lines before its definition. */
async function loadOwn(schemaText: string, options = '') {
  const baseDir = mkdtempSync(join(tmpdir(), 'incrawl-options-'));
  onTestFinished(() => rmSync(baseDir, { recursive: true }));
  mkdirSync(join(baseDir, 'plugins', 'parse-mine'), { recursive: true });
  const setup = `setup: (host, given) => { host.log.info('given', given); return { types: ['text/x'], parse() {} }; }`;
  const text = `import { z } from 'zod';\nexport default { name: 'parse-mine', api: 1, options: ${schemaText}, ${setup} };\n`;
  writeFileSync(join(baseDir, 'plugins', 'parse-mine', 'plugin.ts'), text);
  const list = parsePluginList(`plugins:\n  - parse-mine: {${options}}\n`, 'plugins.yaml');
  const { http, agent, intervals, now } = testHost;
  const given: Readonly<Record<string, unknown>>[] = [];
  const log = { ...testHost.log, info: (_: string, fields = {}) => given.push(fields) };
  const loaded = await loadPlugins({ list, baseDir, log, http, agent, intervals, now, kinds: WORKER_KINDS });
  return { given: given[0], loaded };
}

test.each([
  ['no schema', '{ depth: 3 }', 'options must be a zod schema, such as z.strictObject({})'],
  ['a schema that throws', `z.object({}).transform(() => { throw new Error('boom') })`, 'boom'],
  ['a schema that promises', 'z.object({}).refine(async () => true)', 'Promise'],
])('options that have %s are reported as faults of the plugin', async (_what, schemaText, words) => {
  const fault = await loadOwn(schemaText).catch((error: unknown) => error);
  expect(fault).toMatchObject({ code: 'plugin-broken', message: expect.stringContaining(words) });
  expect((fault as Error).message).toMatch(/^plugins\.yaml:2:5 parse-mine: invalid schema of options: /);
});

test('options from a schema are frozen where they are plain objects, work where they are not, and can be shown', async () => {
  const schemaText = `z.strictObject({
    max: z.coerce.bigint(),
    pattern: z.string().transform((text) => new RegExp(text, 'g')),
    bytes: z.string().transform((text) => Buffer.from(text)),
    hosts: z.array(z.string()).transform((hosts) => new Set(hosts)),
    tree: z.object({ name: z.string() }),
  })`;
  const text = 'max: 7, pattern: a+, bytes: xyz, hosts: [a.example], tree: { name: t }';
  const { given, loaded } = await loadOwn(schemaText, text);
  expect(given).toMatchObject({ max: 7n, bytes: Buffer.from('xyz') });
  expect('caaat'.replace(given?.pattern as RegExp, '-')).toBe('c-t');
  expect(Object.isFrozen(given?.tree)).toBe(true);
  const [view] = await pluginViews(loaded);
  expect(view?.options).toMatchObject({ max: '7', pattern: '/a+/g', hosts: ['a.example'], tree: { name: 't' } });
  expect(loaded.entries[0]?.content).toMatch(/^mine-[0-9a-f]{4}$/);
});

test('testPlugin reports wrong options in the same words, and refuses options of a plugin without any', async () => {
  const setup = () => ({ content: '', filter: () => {} });
  const plugin = definePlugin({ name: 'parsefilter-x', api: 1, options: schema, setup });
  const options = { wordsPerMinutes: 3, inner: { depth: 1 } };
  await expect(testPlugin(plugin, { options })).rejects.toThrow(
    /^parsefilter-x\.wordsPerMinutes: unknown option, did you mean wordsPerMinute\?$/,
  );
  const plain = definePlugin({ name: 'parsefilter-x', api: 1, setup });
  await expect(testPlugin(plain, { options: { a: 1 } })).rejects.toThrow('parsefilter-x.a: this plugin has no options');
});
