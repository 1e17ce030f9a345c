import { Argument, type Command } from 'commander';
import { closestName } from '../../../core/domain/closest-name.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import { commandsPage } from '../../reference/commands.ts';
import {
  asText,
  changesPage,
  configurationPage,
  errorsPage,
  findingsPage,
  type ReferencePage,
  skipsPage,
  statesPage,
} from '../../reference/page.ts';
import { queryPage } from '../../reference/query.ts';

const TOPICS: Readonly<Record<string, (program: Command) => ReferencePage>> = {
  changes: changesPage,
  commands: commandsPage,
  config: configurationPage,
  errors: errorsPage,
  findings: findingsPage,
  query: queryPage,
  skips: skipsPage,
  states: statesPage,
};

export function addHelp(program: Command, run: Run): void {
  const topics = Object.keys(TOPICS);
  program.helpCommand(false);
  const command = program
    .command('help')
    .description(`Explain a command, or a topic: ${topics.join(', ')}.`)
    .addArgument(new Argument('[topic...]', 'a command or a topic'))
    .addHelpText('after', '\nExamples:\n  incrawl help check url\n  incrawl help config | less');
  command.action((words: readonly string[]) =>
    run(command, async (session) => {
      const [word = ''] = words;
      const topic = words.length === 1 ? TOPICS[word] : undefined;
      if (topic !== undefined) {
        const page = topic(program);
        return writeAnswer(session, page, () => asText(page, session.bold));
      }
      let asked = program;
      for (const name of words) {
        const names = asked.commands.map((each) => each.name());
        const next = asked.commands.find((each) => each.name() === name);
        if (next === undefined) {
          const guess = closestName(name, [...names, ...topics]);
          return session.refuse(`no command or topic ${name}${guess === undefined ? '' : `; did you mean ${guess}?`}`);
        }
        asked = next;
      }
      asked.outputHelp();
    }),
  );
}
