import { Argument, type Command } from 'commander';
import { bashCompletion } from '../../completion/bash.ts';
import { type CommandNode, commandTree } from '../../completion/command-tree.ts';
import { fishCompletion } from '../../completion/fish.ts';
import { zshCompletion } from '../../completion/zsh.ts';
import type { Run } from '../../program/program.ts';

const SHELLS: Readonly<Record<string, (tree: CommandNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

export function addCompletion(program: Command, run: Run): void {
  const command = program
    .command('completion')
    .description('Prints a completion script for a shell, made from the commands of this version.')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
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
      await session.out.write(session.json ? `${JSON.stringify({ shell, script })}\n` : script);
    }),
  );
}
