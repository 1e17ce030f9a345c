import { allCommands, type CommandNode, type OptionNode } from './command-tree.ts';

/** Completion for fish, with descriptions; for `~/.config/fish/completions/`. */
export function fishCompletion(tree: CommandNode): string {
  const { name } = tree;
  const lines = [`complete -c ${name} -f`];
  for (const node of allCommands(tree)) {
    const here = node === tree ? '__fish_use_subcommand' : seen(node.path);
    const under = node.children.map((child) => child.name).join(' ');
    for (const child of node.children) {
      const condition = node === tree ? here : `${here}; and not __fish_seen_subcommand_from ${under}`;
      lines.push(`complete -c ${name} -n ${quoted(condition)} -a ${child.name} -d ${quoted(child.description)}`);
    }
    for (const option of node.options) {
      const where = node === tree ? '' : ` -n ${quoted(here)}`;
      lines.push(`complete -c ${name}${where}${namesOf(option)}${argumentOf(option)} -d ${quoted(option.description)}`);
    }
    if (node.values.length > 0)
      lines.push(`complete -c ${name} -n ${quoted(here)} -a ${quoted(node.values.join(' '))}`);
    else if (node.arguments.length > 0) lines.push(`complete -c ${name} -n ${quoted(here)} -F`);
  }
  return `${lines.join('\n')}\n`;
}

const seen = (path: readonly string[]): string =>
  path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');

const namesOf = ({ names }: OptionNode): string =>
  names.map((each) => (each.startsWith('--') ? ` -l ${each.slice(2)}` : ` -s ${each.slice(1)}`)).join('');

function argumentOf({ takesValue, takesFile, choices }: OptionNode): string {
  if (!takesValue) return '';
  if (choices.length > 0) return ` -x -a ${quoted(choices.join(' '))}`;
  return takesFile ? ' -r -F' : ' -x';
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
