import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { loadPlugins, MAIN_THREAD_KINDS } from '../../src/plugin-host/load-plugins.ts';
import { optionFaults } from '../../src/plugin-host/option-faults.ts';
import { parsePluginList } from '../../src/plugin-host/parse-plugin-list.ts';
import { definePlugin } from '../../src/plugin-host/plugin-api.ts';
import { testHost, testPlugin } from '../../src/plugin-host/plugin-testing.ts';

const schema = z.strictObject({ wordsPerMinute: z.number().optional(), inner: z.strictObject({ depth: z.number() }) });
const faultsOf = (value: unknown) => optionFaults(schema, schema.safeParse(value).error?.issues ?? []);

test('each misspelt option is told with the near name, at its place', () => {
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

test('the exam tells wrong options in the same words, and refuses those of a plugin that has none', async () => {
  const setup = () => ({ content: '', filter: () => {} });
  const plugin = definePlugin({ name: 'parsefilter-x', api: 1, options: schema, setup });
  const options = { wordsPerMinutes: 3, inner: { depth: 1 } };
  await expect(testPlugin(plugin, { options })).rejects.toThrow(
    /^parsefilter-x\.wordsPerMinutes: unknown option, did you mean wordsPerMinute\?$/,
  );
  const plain = definePlugin({ name: 'parsefilter-x', api: 1, setup });
  await expect(testPlugin(plain, { options: { a: 1 } })).rejects.toThrow('parsefilter-x.a: this plugin has no options');
});
