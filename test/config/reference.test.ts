import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONFIG_KEYS } from '../../src/config/keys.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configReference } from '../../src/config/reference.ts';

const sample = fileURLToPath(new URL('../../conf/incrawl.yaml', import.meta.url));

describe('reference of the configuration', () => {
  it('has a type, a default and a sentence for each key, once', () => {
    const rows = configReference();
    expect(rows.length).toBe(CONFIG_KEYS.size);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
    for (const row of rows) {
      expect(row.type, row.key).not.toBe('');
      expect(row.default, row.key).not.toBe('');
      expect(row.prose, row.key).toMatch(/^[A-Z].*\.$/);
    }
    expect(rows.find((row) => row.key === 'fetch.delay')).toMatchObject({
      type: 'duration',
      default: '5s',
      unit: 'ms',
      limits: '0s to 1h',
    });
  });

  it('names defaults that mean themselves when they are set by hand', async () => {
    const rows = configReference().filter((row) => row.key !== 'plugins.file' && row.key !== 'agent.version');
    const overrides = rows.map((row) => ({ key: row.key, value: parse(row.default), origin: 'reference' }));
    const byHand = await loadConfig({ overrides, cwd: '/' });
    expect(byHand.config).toEqual((await loadConfig({ cwd: '/' })).config);
  });

  it('agrees with the sample: every key is there, commented out with its default', async () => {
    const text = readFileSync(sample, 'utf8');
    const uncommented = text.replace(/^( *)#(\w+:.*)$/gm, '$1$2');
    const shown = parse(uncommented) as Record<string, Record<string, unknown>>;
    for (const row of configReference()) {
      const [section = '', name = ''] = row.key.split('.');
      expect(shown[section], row.key).toHaveProperty(name);
      if (row.key !== 'agent.version') expect(shown[section]?.[name], row.key).toEqual(parse(row.default));
    }
    await expect(loadConfig({ file: sample })).resolves.toMatchObject({ file: sample });
  });
});
