import { allCommands, type CommandNode, type OptionNode } from './command-tree.ts';

/** Completion for zsh with descriptions: a `_name` function for a folder of `$fpath`, or to evaluate after compinit. */
export function zshCompletion(tree: CommandNode): string {
  const { name } = tree;
  return `#compdef ${name}
_${name}() {
  local path= word index
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    case "\${path:+$path }$word" in
${allCommands(tree)
  .filter((node) => node.path.length > 0)
  .map((node) => `      ${quoted(node.path.join(' '))}) path=${quoted(node.path.join(' '))} ;;`)
  .join('\n')}
    esac
  done
  local -a commands options
  case "$path:\${words[CURRENT-1]}" in
${valueCases(tree).join('\n')}
  esac
  case "$path" in
${allCommands(tree)
  .map((node) => {
    const own = node === tree ? [] : tree.options;
    const commands = [
      ...node.children.map((child) => described(child.name, child.description)),
      ...node.values.map(quoted),
    ];
    const options = [...node.options, ...own].flatMap((option) =>
      option.names.map((each) => described(each, option.description)),
    );
    return `    ${quoted(node.path.join(' '))}) commands=(${commands.join(' ')}); options=(${options.join(' ')}) ;;`;
  })
  .join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then _describe -o option options; return; fi
  (( \${#commands} )) && { _describe command commands; return }
  _files
}
if [[ \${funcstack[1]} == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function valueCases(tree: CommandNode): string[] {
  const line = (node: CommandNode, option: OptionNode): string => {
    const place = node === tree ? '*' : quoted(node.path.join(' '));
    const patterns = option.names.map((each) => `${place}:${each}`).join('|');
    const action = option.choices.length > 0 ? `compadd -- ${option.choices.map(quoted).join(' ')}` : '_files';
    return `    ${patterns}) ${action}; return ;;`;
  };
  return allCommands(tree).flatMap((node) =>
    node.options.filter((option) => option.takesValue).map((option) => line(node, option)),
  );
}

/** `name:description`, the format of `_describe`. */
const described = (name: string, description: string): string =>
  quoted(`${name.replaceAll(':', '\\:')}:${description}`);

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
