import { Command, Help } from 'commander';
import type { Override } from '../../core/config/override.ts';
import { packageVersion } from '../../core/config/package-version.ts';
import { collect } from '../../query/input/option-values.ts';
import { EXIT } from '../../render/exit.ts';
import { safeLines, shortLines } from '../../render/safe-text.ts';
import { type Handler, openSession } from '../session.ts';
import type { Surroundings } from '../surroundings.ts';
import { overview } from './overview.ts';

/**
 * Runs the handler of a command with a session made from its options. `when-asked`: the configuration is read when the
 * handler needs it, or when an option names a file or a value. `presets`: settings that the command needs.
 */
export type Run = (
  command: Command,
  handler: Handler,
  config?: 'at-once' | 'when-asked',
  presets?: readonly Override[],
) => Promise<void>;

export interface Program {
  readonly command: Command;
  /** Exit code of the last run. */
  exitCode(): number;
}

/** Adds a command to the program, with `run` in its action. */
export type AddCommand = (program: Command, run: Run) => void;

/** A program with these commands. Parsing rejects with `CommanderError` for wrong usage and for `--help`. */
export function newProgram(surroundings: Surroundings, commands: readonly AddCommand[]): Program {
  const { stdout, stderr } = surroundings;
  let exitCode: number = EXIT.done;
  const run: Run = async (command, handler, config = 'at-once', presets = []) => {
    const session = await openSession(command, surroundings, config, presets);
    try {
      exitCode = (await handler(session)) ?? EXIT.done;
    } finally {
      await session.close();
    }
  };

  const program: Command = new Command('incrawl')
    .description('Incremental web crawler: learns how often each page changes, fetches only what did, and says why.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) =>
        write(namingMembers(program, shortLines(safeLines(text)).replace(/^error: /, 'incrawl: '))),
    })
    .configureHelp({
      showGlobalOptions: true,
      formatHelp: (command, helper) =>
        command.parent === null
          ? `${overview(helper.boxWrap(command.description(), 80))}\n`
          : Help.prototype.formatHelp.call(helper, command, helper),
      subcommandDescription: (command) => command.description().replace(/\. .*/, '').replace(/\.$/, ''),
    })
    .showHelpAfterError('(--help after a command lists its options)')
    .option('--config <file>', 'configuration file (default: conf/incrawl.yaml, then incrawl.yaml)')
    .option('--dir <dir>', 'state directory', 'crawldb')
    .option('--json', 'print one JSON document instead of text')
    .option(
      '-q, --quiet',
      'print errors only: no progress, notes or summaries; answers of questions, --json and dry runs stay',
    )
    .option('-v, --verbose', 'log in detail, with stacks of unexpected errors')
    .option('-D, --define <key=value>', 'set a configuration key; repeatable', collect)
    .addHelpText('after', AFTER_HELP);
  for (const add of commands) add(program, run);
  return { command: program, exitCode: () => exitCode };
}

/** An error about an unknown command names those of nouns that have this name: `verify` is `state verify`. */
function namingMembers(program: Command, error: string): string {
  const [, name = ''] = /unknown command '([^']+)'/.exec(error) ?? [];
  const nouns = program.commands.filter(({ commands }) => commands.some((member) => member.name() === name));
  if (nouns.length === 0) return error;
  const meant = nouns.map((noun) => `${noun.name()} ${name}`).join(' or ');
  return error.replace(/\n(\(Did you mean .*\)\n)?/, `\n(Did you mean ${meant}?)\n`);
}

const AFTER_HELP = `
Examples:
  incrawl crawl https://example.org/ --contact me@example.org --rounds 2
  incrawl readdb --stats

Exit codes: 0 done, 1 error, 2 usage or configuration, 3 disk full, 4 nothing
due (generate), 5 crawl db locked, 11 signal, 12 failure limit, 13 forced stop.`;
