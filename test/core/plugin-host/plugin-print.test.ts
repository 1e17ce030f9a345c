import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { hostFor } from '../../../src/core/plugin-host/loading/checked-extension.ts';
import { pluginPrint } from '../../../src/core/plugin-host/loading/load-plugins.ts';

const folder = mkdtempSync(join(tmpdir(), 'incrawl-print-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a plugin has another print when its options, the files it reads, or its own file have changed', () => {
  const file = join(folder, 'plugin.mjs');
  writeFileSync(file, 'export default 1;');
  const source = { name: 'urlfilter-own', file, bundled: false, options: { a: 1 }, filesDigest: 'x' };
  const print = pluginPrint(source);
  expect(print).toMatch(/^[0-9a-f]{16}$/);
  expect(pluginPrint({ ...source })).toBe(print);
  const others = [{ name: 'urlfilter-other' }, { options: { a: 2 } }, { filesDigest: 'y' }];
  for (const other of others) expect(pluginPrint({ ...source, ...other })).not.toBe(print);
  writeFileSync(file, 'export default 2;');
  expect(pluginPrint(source)).not.toBe(print);
  const bundled = pluginPrint({ ...source, bundled: true });
  writeFileSync(file, 'export default 3;');
  expect(pluginPrint({ ...source, bundled: true })).toBe(bundled);
});

it('what a plugin reads is digested file by file', () => {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const deps = { baseDir: folder, log } as unknown as Parameters<typeof hostFor>[1];
  const digestOf = (...texts: string[]): string => {
    const { host, filesDigest } = hostFor('urlfilter-own', deps);
    for (const text of texts) {
      writeFileSync(join(folder, 'rules.txt'), text);
      expect(host.readTextFile('rules.txt')).toBe(text);
    }
    return filesDigest();
  };
  expect(digestOf('ab', 'c')).toBe(digestOf('ab', 'c'));
  expect(new Set([digestOf(), digestOf('abc'), digestOf('ab', 'c'), digestOf('a', 'bc'), digestOf('')]).size).toBe(5);
});
