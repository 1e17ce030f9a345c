// cli/commands/setup/: commands that set up, configure and document.

import { Argument, type Command } from 'commander';
import { bashCompletion } from '../../completion/bash.ts';
import { type CommandNode, commandTree } from '../../completion/command-tree.ts';
import { fishCompletion } from '../../completion/fish.ts';
import { zshCompletion } from '../../completion/zsh.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';

const SHELLS: Readonly<Record<string, (tree: CommandNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

export function addCompletion(program: Command, run: Run): void {
  const command = program
    .command('completion')
    .description('Print a completion script for a shell, generated from the commands of this version.')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      `
Examples:
  incrawl completion bash > ~/.local/share/bash-completion/completions/incrawl
  incrawl completion zsh > "\${fpath[1]}/_incrawl"
  incrawl completion fish > ~/.config/fish/completions/incrawl.fish`,
    );
  command.action((shell: string) =>
    run(command, async (session) => {
      const script = SHELLS[shell]?.(commandTree(program)) ?? '';
      await writeAnswer(session, { shell, script }, () => script);
    }),
  );
}
