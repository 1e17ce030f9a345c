import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONFIG_KEYS } from '../../../src/core/config/keys.ts';
import { loadConfig } from '../../../src/core/config/load.ts';
import { configReference, configSample } from '../../../src/core/config/sample.ts';

const sample = fileURLToPath(new URL('../../../conf/incrawl.yaml', import.meta.url));

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

  it('agrees with the sample, which is made from it: every key is there, commented out with its default', async () => {
    const text = readFileSync(sample, 'utf8');
    // Out of date: npm run docs.
    expect(text).toBe(configSample());
    const uncommented = text.replace(/^( *)#(\w+:.*)$/gm, '$1$2');
    const shown = parse(uncommented) as Record<string, Record<string, unknown>>;
    for (const row of configReference()) {
      const [section = '', name = ''] = row.key.split('.');
      expect(shown[section], row.key).toHaveProperty(name);
      if (row.key !== 'agent.version') expect(shown[section]?.[name], row.key).toEqual(parse(row.default));
    }
    await expect(loadConfig({ file: sample })).resolves.toMatchObject({ file: sample });
  });

  it('names each value in the sample as it must be written', async () => {
    const values = [...commentsOf(readFileSync(sample, 'utf8'))].flatMap(([key, comment]) =>
      namedIn(comment).map((value) => ({ key, value })),
    );
    const words = values.filter(({ key }) => ['fetch.probe', 'sitemaps.mode', 'updatedb.additions'].includes(key));
    expect(words.map(({ value }) => value)).toEqual([
      ...['auto', 'head', 'headers', 'off'],
      ...['true', 'false'],
      ...['off', 'discover'],
    ]);
    expect(values.length).toBeGreaterThan(150);
    for (const { key, value } of values) {
      const override = { key, value: parse(value), origin: `the comment at ${key}` };
      const isList = Array.isArray(configDefaults.get(key));
      const asked = isList ? { ...override, value: [override.value] } : override;
      const others = BESIDE[key]?.(value).map((text) => text.split('=')) ?? [];
      const beside = others.map(([name = '', given]) => ({ key: name, value: given, origin: 'beside it' }));
      const tried = loadConfig({ overrides: [...beside, asked], cwd: '/' });
      await expect(tried, `${key}: ${value}`).resolves.toBeDefined();
    }
  });
});

const configDefaults = new Map([...CONFIG_KEYS.values()].map(({ key, defaultValue }) => [key, defaultValue]));

/** Keys whose ends of the range need another value of another key. */
const BESIDE: Readonly<Record<string, (value: string) => string[]>> = {
  'schedule.interval': () => ['schedule.minInterval=1s', 'schedule.maxInterval=3650d'],
  'schedule.minInterval': (value) => [`schedule.interval=${value}`, 'schedule.maxInterval=3650d'],
  'schedule.maxInterval': (value) => ['schedule.minInterval=1s', `schedule.interval=${value}`],
  'schedule.retryInterval': () => ['schedule.maxRetryInterval=3650d'],
  'schedule.maxRetryInterval': () => ['schedule.retryInterval=1s'],
};

/** The comment above each key. */
function commentsOf(text: string): Map<string, string> {
  const comments = new Map<string, string>();
  let [section, comment] = ['', ''];
  for (const line of text.split('\n')) {
    const heading = /^(\w+):$/.exec(line);
    const key = /^ {2}#(\w+): /.exec(line);
    if (heading !== null) section = heading[1] ?? '';
    else if (key !== null) {
      comments.set(`${section}.${key[1]}`, comment);
      comment = '';
    } else if (line.startsWith('  # ')) comment += `${line.slice(4)}\n`;
  }
  return comments;
}

/** Values that the last lines of a comment name: words, the ends of a range, examples. */
function namedIn(comment: string): string[] {
  const last = comment.trimEnd().split('\n').at(-1) ?? '';
  if (last.includes(' | ')) return last.split(' | ');
  const range = /, (\S+) to (\S+)\.$/.exec(last)?.slice(1) ?? [];
  const bound = /(?:at least|at most|from) (\d\S*)\.$/.exec(last)?.slice(1) ?? [];
  const quoted = /such as ((?:"[^"]*"(?:, )?)+)/.exec(comment.replaceAll('\n', ' '))?.[1]?.match(/"[^"]*"/g) ?? [];
  const bare = /such as ([\w:/.]+?)(?:\.?$| \()/m.exec(last)?.slice(1) ?? [];
  return [...range, ...bound, ...quoted, ...bare];
}
