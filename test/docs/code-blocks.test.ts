import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/commands/all-commands.ts';
import { commandTree } from '../../src/cli/completion/command-tree.ts';
import { loadConfig } from '../../src/core/config/load.ts';
import { parsePluginList } from '../../src/core/plugin-host/loading/plugin-list.ts';
import { NO_STOPS, run } from '../support/program.ts';
import { workDir } from '../support/work-dir.ts';
import { docs } from './doc-blocks.ts';

const { stdout, stderr } = process;
const tree = commandTree(
  (await createProgram({ argv: [], env: {}, stdin: () => process.stdin, stdout, stderr, stops: NO_STOPS })).command,
);
type Node = typeof tree;

/**
 * Words of a command line roughly as a shell splits them: quotes keep blanks, pipes and redirections end it.
 */
function wordsOf(line: string): string[] {
  const words = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const end = words.findIndex((word) => /^(?:\||\|\||&&|;|>|>>|<|#)/.test(word));
  return end === -1 ? words : words.slice(0, end);
}

/** Fault of a command line of the docs; `null`: none found. */
function faultOf(words: readonly string[]): string | null {
  let node: Node = tree;
  const options = [...tree.options];
  for (const word of words.slice(1)) {
    const child = node.children.find(({ name }) => name === word);
    if (child !== undefined) {
      node = child;
      options.push(...child.options);
    } else if (/^--[a-z]/.test(word)) {
      const flag = word.split('=')[0]!;
      if (!options.some(({ flags }) => flags.includes(flag))) return `${node.name} has no option ${flag}`;
    } else if (node === tree && /^[a-z]/.test(word)) return `there is no command ${word}`;
  }
  return null;
}

describe('command lines in the docs', () => {
  const lines = docs.flatMap(({ name, blocks }) =>
    blocks
      .filter(({ info }) => info === '' || info === 'console' || info === 'sh')
      .flatMap(({ text, line }) =>
        text.split('\n').flatMap((each, i): [string, string][] => {
          const command = /(?:^|[|;&] *|^\$ +)(incrawl +.*)$/.exec(each.replace(/^\$ /, ''))?.[1];
          return command === undefined ? [] : [[`${name}:${line + i}`, command]];
        }),
      ),
  );
  it('are many', () => expect(lines.length).toBeGreaterThan(50));
  it.each(lines)('%s %s', (_, line) => expect(faultOf(wordsOf(line))).toBeNull());
});

describe('snippets of the docs, pasted below what "init" writes', () => {
  const snippets = (file: 'incrawl.yaml' | 'plugins.yaml') =>
    docs.flatMap(({ name, blocks }) =>
      blocks
        .filter(({ info }) => new RegExp(`^yaml(?: (?:conf/)?${file})?$`).test(info))
        .filter(({ info }) => info !== 'yaml' || file === 'incrawl.yaml')
        .map(({ text, line }): [string, string] => [`${name}:${line}`, text]),
    );
  let dir = '';
  beforeAll(async () => {
    dir = workDir();
    expect((await run(['init', dir])).code).toBe(0);
  });

  const settings = snippets('incrawl.yaml');
  it('are many', () => expect(settings.length).toBeGreaterThan(12));
  it.each(settings)('%s is in force', async (at, text) => {
    const file = join(dir, `conf/pasted-${settings.findIndex(([name]) => name === at)}.yaml`);
    const alone = join(dir, 'alone.yaml');
    writeFileSync(alone, text);
    writeFileSync(file, `${readFileSync(join(dir, 'conf/incrawl.yaml'), 'utf8')}\n${text}\n`);
    const given = ({ origins }: Awaited<ReturnType<typeof loadConfig>>) =>
      [...origins].flatMap(([key, { value, origin }]) => (origin === 'default' ? [] : [[key, value]]));
    const inForce = given(await loadConfig({ file }));
    expect(inForce.length).toBeGreaterThan(0);
    expect(inForce).toEqual(given(await loadConfig({ file: alone })));
  });

  const lists = snippets('plugins.yaml');
  it('of plugins are there', () => expect(lists.length).toBeGreaterThan(1));
  it.each(lists)('%s goes on where the shipped list ends', (_, text) => {
    const shipped = readFileSync(join(dir, 'conf/plugins.yaml'), 'utf8');
    const before = parsePluginList(shipped, 'plugins.yaml');
    const alone = parsePluginList(text, 'plugins.yaml');
    const list = parsePluginList(`${shipped}\n${text}\n`, 'plugins.yaml');
    const uses = new Set([...before.entries, ...alone.entries].map(({ use }) => use));
    expect(list.entries.map(({ use }) => use)).toEqual([...uses]);
    for (const { use, options } of alone.entries) {
      expect(list.entries.find((each) => each.use === use)?.options).toEqual(options);
    }
    expect(list.scopes).toEqual(alone.scopes);
  });
});
