// cli/reference/: the pages of docs/reference and of incrawl help.

import type { EventEmitter } from 'node:events';
import type { Command } from 'commander';
import { allCommands, type CommandNode, commandTree } from '../completion/command-tree.ts';
import type { ReferencePage, ReferencePart } from './page.ts';

export function commandsPage(program: Command): ReferencePage {
  const tree = commandTree(program);
  return {
    title: 'Commands',
    intro: 'stdout is data, stderr is logs and progress. Every command takes the options of the program itself.',
    parts: allCommands(tree).map((node) => partOf(node, tree.name, program)),
  };
}

function partOf(node: CommandNode, name: string, program: Command): ReferencePart {
  return {
    heading: [name, ...node.path, ...node.arguments].join(' '),
    prose: node.description,
    columns: ['option', 'default', 'meaning'],
    rows: node.options.map((option) => [
      option.flags,
      option.defaultText ?? '',
      option.description + (option.choices.length > 0 ? ` (${option.choices.join(', ')})` : ''),
    ]),
    code: afterHelp(commandAt(program, node.path)),
  };
}

function commandAt(program: Command, path: readonly string[]): Command {
  return path.reduce((command, word) => command.commands.find((each) => each.name() === word) ?? command, program);
}

/** The text of `--help` after the options: the examples. */
function afterHelp(command: Command): string {
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  // Commander implements `addHelpText` with events, which its types do not show.
  (command as unknown as EventEmitter).emit('afterHelp', { error: false, command, write });
  return text.trim();
}
