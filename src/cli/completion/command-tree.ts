import type { Command, Option } from 'commander';

/** The command tree as plain data, for completion and documentation. */
export interface CommandNode {
  readonly name: string;
  /** Names below the program, such as `['check', 'url']`; empty for the program itself. */
  readonly path: readonly string[];
  readonly description: string;
  /** As in the usage line, such as `[seed...]`. */
  readonly arguments: readonly string[];
  /** Possible values of its arguments; empty: any. */
  readonly values: readonly string[];
  readonly options: readonly OptionNode[];
  readonly children: readonly CommandNode[];
}

export interface OptionNode {
  /** `-o, --output <file>` */
  readonly flags: string;
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly takesFile: boolean;
  readonly choices: readonly string[];
  /** The default as text; `null` without one. */
  readonly defaultText: string | null;
}

const FILE_VALUE = /[<[](?:file|dir)[\]>]/i;

export function commandTree(command: Command, path: readonly string[] = []): CommandNode {
  return {
    name: command.name(),
    path,
    description: command.description(),
    arguments: command.registeredArguments.map((each) => {
      const name = `${each.name()}${each.variadic ? '...' : ''}`;
      return each.required ? `<${name}>` : `[${name}]`;
    }),
    values: command.registeredArguments.flatMap((each) => each.argChoices ?? []),
    options: command.options.filter((option) => !option.hidden).map(optionNode),
    children: command.commands.map((child) => commandTree(child, [...path, child.name()])),
  };
}

function optionNode(option: Option): OptionNode {
  const isPlain = typeof option.defaultValue === 'string' || typeof option.defaultValue === 'number';
  return {
    flags: option.flags,
    names: [option.short, option.long].filter((name) => name !== undefined),
    description: option.description,
    takesValue: option.required || option.optional,
    takesFile: FILE_VALUE.test(option.flags),
    choices: option.argChoices ?? [],
    defaultText: option.defaultValueDescription ?? (isPlain ? String(option.defaultValue) : null),
  };
}

/** The node and all its descendants, depth first. */
export function allCommands(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(allCommands)];
}
