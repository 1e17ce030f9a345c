import type { Command } from 'commander';
import type { CommandAnswer, CommandName } from '../../../crawler/views.ts';
import { durationMs, hostName } from '../../../query/input/option-values.ts';
import { type Tell, tellSeeds, tellTouched } from '../../../remote/questions/tell-batches.ts';
import { EXIT } from '../../../render/exit.ts';
import { badLines, injectText } from '../../../render/text/seeds-text.ts';
import { delayText, STEERED_TEXTS, touchText, untouchedLines } from '../../../render/text/steering-text.ts';
import { seedSources } from '../../input/seed-sources.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';
import { namedUrls } from './touch.ts';

/** Time after which a crawl that does not answer is reported, ms: it may be applying a large round. */
const SILENCE_MS = 10_000;

export function addCtl(program: Command, run: Run): void {
  const ctl = program
    .command('ctl')
    .description('Steer the crawl that runs on this state directory: "crawl", or a run of "schedule".')
    .addHelpText(
      'after',
      `
Examples:
  incrawl ctl pause
  incrawl ctl touch https://example.org/news
  incrawl ctl delay www.example.org 30

A command holds for this run only, and is accepted from processes of the same user only.`,
    );
  const states: readonly (readonly ['pause' | 'resume' | 'stop', string])[] = [
    ['pause', 'Send no further request; those under way end. "resume" goes on; a killed crawl begins unpaused.'],
    ['resume', 'Go on after a pause.'],
    ['stop', 'End the crawl after the round under way. A scheduler starts its next run as planned.'],
  ];
  for (const [name, description] of states) {
    const command = ctl.command(name).description(description);
    command.addHelpText('after', `\nExample:\n  incrawl ctl ${name} --dir /var/lib/incrawl`);
    command.action(() => run(command, (session) => steer(session, name), 'when-asked'));
  }

  const touch = ctl
    .command('touch')
    .argument('<url...>', 'known URLs; - reads them from stdin, as "due touch" does')
    .description('Make known URLs due now: they are first in the next round.')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl ctl touch https://example.org/news\n  changed-urls | incrawl ctl touch -',
    );
  touch.action((words: readonly string[]) => run(touch, (session) => touchUrls(session, words), 'when-asked'));

  const inject = ctl
    .command('inject')
    .argument('<seed...>', 'seeds as for inject; known URLs stay unchanged')
    .description('Add seeds to the crawl that runs.')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl ctl inject https://example.org/new/\n  incrawl ctl inject seeds/more.txt',
    );
  inject.action((words: readonly string[]) => run(inject, (session) => injectSeeds(session, words), 'when-asked'));

  const delay = ctl
    .command('delay')
    .argument('<host>', 'such as www.example.org', hostName)
    .argument('<seconds>', 'time between two requests, such as 30 or 2m; 0: as configured', durationMs)
    .description('Send requests to a host less often; never more often than robots.txt and the configuration allow.')
    .addHelpText('after', '\nExamples:\n  incrawl ctl delay www.example.org 30\n  incrawl ctl delay www.example.org 0');
  delay.action((host: string, ms: number) => run(delay, (session) => setDelay(session, host, ms), 'when-asked'));
}

/** Tells the running crawl, and says so if the answer takes long. */
const teller =
  (session: Session): Tell =>
  async <Name extends CommandName>(command: Name, ...args: unknown[]): Promise<CommandAnswer<Name>> => {
    const { tellRun } = await import('../../../remote/questions/tell-run.ts');
    const timer = setTimeout(
      () => session.note('The crawl has not answered so far; it may be updating its crawl db, or suspended. Waiting.'),
      SILENCE_MS,
    );
    try {
      return await tellRun(session.options.dir, command, args);
    } finally {
      clearTimeout(timer);
    }
  };

async function steer(session: Session, name: 'pause' | 'resume' | 'stop'): Promise<number> {
  const state = await teller(session)(name);
  await writeSummary(session, state, () => `${STEERED_TEXTS[name](state)}\n`);
  return EXIT.done;
}

async function touchUrls(session: Session, words: readonly string[]): Promise<number> {
  const urls = await namedUrls(session, words, words.includes('-'));
  const sum = await tellTouched(teller(session), urls);
  await writeSummary(session, sum, () => `${touchText(sum)}\n`);
  if (!session.json) for (const line of untouchedLines(sum)) session.note(line);
  return sum.touched + sum.unmoved === 0 ? EXIT.error : EXIT.done;
}

async function injectSeeds(session: Session, words: readonly string[]): Promise<number> {
  const sum = await tellSeeds(teller(session), await seedSources(session, words));
  const isFailed = sum.urls === 0 && sum.errors.length > 0;
  const say = isFailed ? session.complain : session.note;
  for (const line of badLines(sum.errors)) say(line);
  await writeSummary(session, sum, () => `${injectText(sum)}\n`);
  return isFailed ? EXIT.error : EXIT.done;
}

async function setDelay(session: Session, host: string, delayMs: number): Promise<number> {
  const delay = await teller(session)('delay', host, delayMs);
  await writeSummary(session, { host, ...delay }, () => `${delayText(host, delayMs, delay)}\n`);
  return EXIT.done;
}
