import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandNode } from '../../src/cli/completion/command-tree.ts';
import { CONFIG_KEYS } from '../../src/core/config/keys.ts';
import { SECTIONS } from '../../src/core/config/schema.ts';
import type { PluginDefinition } from '../../src/core/plugin-host/api/plugin-api.ts';
import { BUNDLED_PLUGINS, DEFAULT_PLUGIN_LIST } from '../../src/core/plugin-host/loading/plugin-list.ts';

interface Row {
  readonly id: string;
  readonly what: string;
  /** `PATH#NAME`: a file, and what it exports. */
  readonly code: readonly string[];
  /** Commands with their options, separated by `; `. */
  readonly see: string;
  readonly on: {
    /** On by default; the key, or the plugin with its option, is what changes it. */
    readonly default?: boolean;
    /** A command does it when asked. */
    readonly asked?: boolean;
    readonly key?: string;
    readonly plugin?: string;
    readonly option?: string;
    readonly value?: unknown;
  };
}

const root = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(resolve(root, file), 'utf8');
const load = (file: string) => import(new URL(`../../${file}`, import.meta.url).href);

const { papers, papersPage } = (await load('scripts/papers-page.mjs')) as {
  papers: { papers: readonly { id: string }[]; rows: readonly Row[] };
  papersPage(): string;
};
const { programTree } = (await load('scripts/reference-pages.mjs')) as { programTree(): Promise<CommandNode> };
const tree = await programTree();
const ROWS_OF_PAPERS = { S0: 11, S1: 11, S2: 19, S3: 22, S4: 11 };

const defaultPlugins = new Set(DEFAULT_PLUGIN_LIST.entries.map(({ use }) => use));

function exportsOf(file: string): Set<string> {
  const text = read(file);
  return new Set([
    ...[...text.matchAll(/^export (?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm)].map(
      ([, name]) => name!,
    ),
  ]);
}

/** What the built program lacks of a command such as `mr export --shard-lines`. */
function missingIn(command: string): string[] {
  const words = command.split(' ');
  const names = words.filter((word) => !word.startsWith('-'));
  let node: CommandNode | undefined = tree;
  for (const name of names) node = node?.children.find((child) => child.name === name);
  if (node === undefined) return [names.join(' ')];
  const options = new Set(node.options.flatMap((option) => option.names));
  return words.filter((word) => word.startsWith('-') && !options.has(word));
}

describe('docs/papers.md', () => {
  it('is what the data says: npm run docs', () => expect(read('docs/papers.md')).toBe(papersPage()));

  it('has all rows in order, each once', () => {
    const expected = Object.entries(ROWS_OF_PAPERS).flatMap(([paper, count]) =>
      Array.from({ length: count }, (_, i) => `${paper}.${i + 1}`),
    );
    expect(papers.rows.map(({ id }) => id)).toEqual(expected);
    expect(papers.papers.map(({ id }) => id)).toEqual(Object.keys(ROWS_OF_PAPERS));
    for (const { id, what, code, see } of papers.rows) {
      expect(what, id).toMatch(/^[A-Z].{5,110}$/);
      expect(code.length, id).toBeGreaterThan(0);
      expect(see, id).not.toBe('');
    }
  });
});

describe.each(papers.rows.map((row) => [row.id, row] as const))('row %s', (_, { code, see, on }) => {
  it('names files, and what they export', () => {
    for (const place of code) {
      const [file = '', name = ''] = place.split('#');
      expect(existsSync(resolve(root, file)), file).toBe(true);
      expect(exportsOf(file), file).toContain(name);
    }
  });

  it('names commands and options of the program', () => {
    for (const command of see.split('; ')) expect(missingIn(command), command).toEqual([]);
  });

  it('names what turns it on', async () => {
    if (on.key !== undefined) {
      const key = CONFIG_KEYS.get(on.key);
      expect(key, on.key).toBeDefined();
      if (on.default !== true) {
        const { shape } = SECTIONS[key!.section as keyof typeof SECTIONS];
        const leaf = (shape as Record<string, { safeParse(value: unknown): { success: boolean } }>)[key!.name]!;
        expect(leaf.safeParse(on.value).success, `${on.key}: ${String(on.value)}`).toBe(true);
        expect(on.value).not.toEqual(key!.defaultValue);
      }
    }
    if (on.plugin !== undefined) {
      expect(BUNDLED_PLUGINS).toContain(on.plugin);
      const { options } = ((await load(`plugins/${on.plugin}/plugin.ts`)) as { default: PluginDefinition }).default;
      const defaults = (options?.safeParse({}).data ?? {}) as Record<string, unknown>;
      if (on.default === true) expect(defaultPlugins).toContain(on.plugin);
      if (on.option !== undefined) expect(Object.keys(defaults)).toContain(on.option);
      if (on.value !== undefined) {
        expect(options?.safeParse({ [on.option!]: on.value }).error).toBeUndefined();
        expect(on.value).not.toEqual(defaults[on.option!]);
      } else if (on.default !== true) expect(defaultPlugins).not.toContain(on.plugin);
    }
    expect([on.default, on.asked, on.key, on.plugin].some((each) => each !== undefined)).toBe(true);
  });
});
