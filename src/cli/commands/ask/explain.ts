import type { Command } from 'commander';
import type { Run } from '../../program/program.ts';
import { explanationText } from '../../render/text/explanation-text.ts';

export function addExplain(program: Command, run: Run): void {
  const command = program
    .command('explain')
    .argument('<url>')
    .description(
      'Why a URL is or is not fetched: filters, robots.txt, how it was found, its visits, the arithmetic of the next one and what would bring it forward.',
    )
    .addHelpText('after', '\nExample:\n  incrawl explain https://example.org/news/');
  command.action((url: string) =>
    run(command, async (session) => {
      const explanation = await session.withReader((reader) => reader.explain(url));
      await session.out.write(
        session.json ? `${JSON.stringify(explanation)}\n` : explanationText(explanation, session.bold),
      );
    }),
  );
}
