// cli/completion/: completion scripts for shells.

import { allCommands, type CommandNode } from './command-tree.ts';

/** Completion for bash 3.2 and later. The user's shell sources it, so it contains only names of the command tree. */
export function bashCompletion(tree: CommandNode): string {
  const name = tree.name;
  const common = tree.options.flatMap((option) => option.names);
  const cases = allCommands(tree).map((node) => {
    const words = [
      ...node.children.map((child) => child.name),
      ...node.values,
      ...optionNames(node),
      ...(node === tree ? [] : common),
    ];
    return `    ${quoted(node.path.join(' '))}) words=${quoted(words.join(' '))} ;;`;
  });
  const parents = allCommands(tree).filter((node) => node.path.length > 0);
  return `# bash completion for ${name}: source it, or put it in the folder of bash-completion
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path= words= word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "\${path:+$path }$word" in
${parents.map((node) => `      ${quoted(node.path.join(' '))}) path=${quoted(node.path.join(' '))} ;;`).join('\n')}
    esac
  done
  case "$path:$previous" in
${valueCases(tree).join('\n')}
  esac
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}

const optionNames = (node: CommandNode): string[] =>
  node.path.length === 0
    ? node.options.flatMap(({ names }) => names)
    : [...node.options.flatMap(({ names }) => names), '--help'];

/**
 * The values of options. Options of the program itself are valid everywhere. An empty answer leaves file names to
 * readline, which quotes them and descends into folders; from bash 4.0 on, this is turned off if no file is expected.
 */
function valueCases(tree: CommandNode): string[] {
  return allCommands(tree).flatMap((node) =>
    node.options
      .filter((option) => option.takesValue)
      .map((option) => {
        const place = node === tree ? '*' : quoted(node.path.join(' '));
        const patterns = option.names.map((each) => `${place}:${each}`).join(' | ');
        const noFiles = 'compopt +o default 2>/dev/null';
        if (option.choices.length > 0) {
          return `    ${patterns}) ${noFiles}; COMPREPLY=($(compgen -W ${quoted(option.choices.join(' '))} -- "$current")); return ;;`;
        }
        return `    ${patterns}) ${option.takesFile ? '' : `${noFiles}; `}COMPREPLY=(); return ;;`;
      }),
  );
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
