import { testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

it('keeps the contract of its kind', () => testPlugin(plugin));

it('has the configured columns in their order, and lists removed pages', async () => {
  const exporter = await testPlugin(plugin, { options: { columns: ['title', 'url'] } });
  if (!('document' in exporter)) throw new Error('it is a text exporter');
  expect(exporter.begin?.()).toBe('title,url,deleted\r\n');
  const gone = { url: 'http://example.org/', state: 'gone', target: null, contentType: null };
  expect(exporter.removed?.(gone)).toBe(',http://example.org/,true\r\n');
});

it('knows no other columns', async () => {
  await expect(testPlugin(plugin, { options: { columns: ['price'] } })).rejects.toThrow(/columns/);
});
