import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A code block of a Markdown file. */
export interface DocBlock {
  /** Info string of the fence (`ts plugins/x/plugin.ts`); empty for an indented block. */
  readonly info: string;
  readonly text: string;
  /** Line of its first line, from 1. */
  readonly line: number;
}

/** Fenced and indented code blocks in their order. */
export function codeBlocks(markdown: string): DocBlock[] {
  const blocks: DocBlock[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const fence = /^( {0,3})```(.*)$/.exec(lines[at]!);
    if (fence !== null) {
      const [, indent = '', info = ''] = fence;
      const end = lines.indexOf(`${indent}\`\`\``, at + 1);
      if (end === -1) throw new Error(`the code block of line ${at + 1} has no end`);
      const text = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
      blocks.push({ info: info.trim(), text: text.join('\n'), line: at + 2 });
      at = end;
    } else if (/^ {4}\S/.test(lines[at]!) && (lines[at - 1] ?? '').trim() === '') {
      const from = at;
      while (
        /^ {4}/.test(lines[at + 1] ?? '') ||
        ((lines[at + 1] ?? '').trim() === '' && /^ {4}/.test(lines[at + 2] ?? ''))
      )
        at++;
      blocks.push({
        info: '',
        text: lines
          .slice(from, at + 1)
          .map((line) => line.slice(4))
          .join('\n'),
        line: from + 1,
      });
    }
  }
  return blocks;
}

/** A command of a `console` block with the lines that it is said to print. */
export interface DocCommand {
  readonly command: string;
  readonly expected: readonly string[];
}

/** Lines that begin with `$ ` are commands, the lines up to the next one what they print. */
export function consoleCommands(block: DocBlock): DocCommand[] {
  const commands: { command: string; expected: string[] }[] = [];
  for (const line of block.text.split('\n')) {
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), expected: [] });
    else if (commands.length === 0) throw new Error(`line ${block.line}: a console block begins with a command`);
    else commands.at(-1)!.expected.push(line);
  }
  return commands;
}

/**
 * The first expected line that the output does not have behind the one before; `...` stands for anything, blanks for
 * any number of blanks.
 */
export function missingLine(output: string, expected: readonly string[]): string | null {
  const lines = output.split('\n').map(folded);
  let at = 0;
  for (const wanted of expected) {
    const pattern = folded(wanted);
    if (pattern === '' || pattern === '...') continue;
    const regex = new RegExp(`^${pattern.split('...').map(escaped).join('.*')}$`);
    const found = lines.findIndex((line, i) => i >= at && regex.test(line));
    if (found === -1) return wanted;
    at = found + 1;
  }
  return null;
}

const folded = (text: string): string => text.replace(/\s+/g, ' ').trim();
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** README and the pages of `docs`, by their paths. */
export const docs: readonly { readonly name: string; readonly blocks: readonly DocBlock[] }[] = [
  join(root, 'README.md'),
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(root, 'docs', name)),
].map((file) => ({ name: file.slice(root.length), blocks: codeBlocks(readFileSync(file, 'utf8')) }));
