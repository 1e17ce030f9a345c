import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/commands/all-commands.ts';
import { commandTree } from '../../src/cli/completion/command-tree.ts';
import { loadConfig } from '../../src/config/load.ts';
import { NO_STOPS } from '../support/program.ts';
import { workDir } from '../support/work-dir.ts';
import { docs } from './doc-blocks.ts';

const { stdout, stderr } = process;
const tree = commandTree(
  createProgram({ argv: [], env: {}, stdin: () => process.stdin, stdout, stderr, stops: NO_STOPS }).command,
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

describe('configuration in the docs', () => {
  const blocks = docs.flatMap(({ name, blocks: all }) =>
    all
      .filter(({ info }) => info.startsWith('yaml') && info.endsWith('incrawl.yaml'))
      .map(({ text, line }): [string, string] => [`${name}:${line}`, text]),
  );
  it('is there', () => expect(blocks.length).toBeGreaterThan(3));
  it.each(blocks)('%s', async (_, text) => {
    const dir = workDir();
    writeFileSync(join(dir, 'incrawl.yaml'), text);
    expect((await loadConfig({ cwd: dir })).config).toBeDefined();
  });
});
