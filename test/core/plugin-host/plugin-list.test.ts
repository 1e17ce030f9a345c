import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parsePluginList } from '../../../src/core/plugin-host/loading/plugin-list.ts';

const shipped = readFileSync(new URL('../../../conf/plugins.yaml', import.meta.url), 'utf8');

test('a line added at the end of the shipped list is the last plugin', () => {
  const { entries } = parsePluginList(`${shipped.trimEnd()}\n  - parsefilter-mine\n`, 'plugins.yaml');
  expect(entries.at(-1)?.use).toBe('parsefilter-mine');
});

test('an entry is a name, a name with options, or a path', () => {
  const text = 'plugins:\n  - a\n  - b: { n: 1 }\n  - use: ./c\n    options: { n: 2 }\n';
  expect(parsePluginList(text, 'p.yaml').entries).toEqual([
    { use: 'a', options: {}, where: 'p.yaml:2:5' },
    { use: 'b', options: { n: 1 }, where: 'p.yaml:3:5' },
    { use: './c', options: { n: 2 }, where: 'p.yaml:4:5' },
  ]);
});

test('a list that is begun again goes on; a plugin that stands there already takes the options, in its place', () => {
  const text = 'plugins:\n  - a\n  - b\n  - c: { n: 1 }\nwinners: { x: a }\nplugins:\n  - a: { n: 2 }\n  - c\n  - d\n';
  const { entries, winners } = parsePluginList(`${text}winners: { y: b }\n`, 'p.yaml');
  expect(entries).toEqual([
    { use: 'a', options: { n: 2 }, where: 'p.yaml:7:5' },
    { use: 'b', options: {}, where: 'p.yaml:3:5' },
    { use: 'c', options: { n: 1 }, where: 'p.yaml:4:5' },
    { use: 'd', options: {}, where: 'p.yaml:9:5' },
  ]);
  expect(winners).toEqual({ x: 'a', y: 'b' });
});

test('within one list a plugin is listed once: the loader refuses the second entry', () => {
  const { entries } = parsePluginList('plugins:\n  - a\n  - a: { n: 2 }\n', 'p.yaml');
  expect(entries.map(({ use }) => use)).toEqual(['a', 'a']);
});

test('aliases stand for what their anchors name', () => {
  const text = 'plugins:\n  - a: { hosts: &hosts [example.org] }\n  - b: { hosts: *hosts }\n';
  const hosts = ['example.org'];
  expect(parsePluginList(text, 'p.yaml').entries.map(({ options }) => options)).toEqual([{ hosts }, { hosts }]);
});

test('an option that begins with "*" without quotes is refused with its place in the list', () => {
  const text = 'plugins:\n  - 7\n  - b: { hosts: [*.example.org] }\n';
  expect(() => parsePluginList(text, 'p.yaml')).toThrow(
    /^p\.yaml:2:5 plugins\[0\]: .*\np\.yaml:3:5 plugins\[1\]: .*\.example\.org; text that begins with "\*" needs quotes$/,
  );
});

test('a YAML error is reported in one line', () => {
  expect(() => parsePluginList('plugins:\n\t- a\n', 'p.yaml')).toThrow(/^p\.yaml:2:1 Tabs [^\n]*$/);
});

test.each([
  ['- a\n', 'p.yaml:1:1 expected the keys plugins, winners and scopes'],
  ['plugin:\n  - a\n', 'p.yaml:1:1 plugin: unknown key, did you mean plugins?'],
  [
    'plugins:\n  - a: { n: 1 }\nplugins:\n  - a: { n: 2 }\n',
    'p.yaml:4:5 options of a: given twice, on lines 2 and 4; keep one of them',
  ],
  ['winners: { x: a }\nwinners: { x: b }\n', 'p.yaml:2:12 winners.x: given twice, on lines 1 and 2'],
  ['scopes: { inject: [] }\nscopes:\n  inject: []\n', 'p.yaml:3:3 scopes.inject: given twice, on lines 1 and 3'],
  ['plugins:\n  - a: { n: 1, n: 2 }\n', 'p.yaml:2:16 plugins[0].a.n: given twice, on line 2; keep'],
  ['plugins: a\n', 'p.yaml:1:10 plugins: expected a list'],
  ['winners: [a]\n', 'p.yaml:1:10 winners: expected a map of MIME type to plugin name'],
  ['plugins:\n  - 7\n', 'p.yaml:2:5 plugins[0]: expected a plugin name, a name with options, or use: with a path'],
  ['plugins:\n  - a: [1]\n', 'p.yaml:2:5 plugins[0]: a: expected a map of options'],
  [
    'plugins:\n  - use: a\n    n: 1\n',
    'p.yaml:2:5 plugins[0]: unknown key n beside use; options belong under options:',
  ],
])('a list with a fault names the place and what was expected: %j', (text, message) => {
  expect(() => parsePluginList(text, 'p.yaml')).toThrow(message);
});

test('invalid YAML is reported without follow-up errors', () => {
  const text = 'winners: {}\n  - parsefilter-mine\n';
  let message = '';
  try {
    parsePluginList(text, 'p.yaml');
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toContain('p.yaml:2:1');
  expect(message).not.toContain('unknown key');
});
