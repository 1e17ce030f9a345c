import { Command } from 'commander';
import { packageVersion } from '../config/package-version.ts';
import { addBackup, addRestore } from './commands/backup.ts';
import { addChanges } from './commands/changes.ts';
import { addCheck } from './commands/check.ts';
import { addCompletion } from './commands/completion.ts';
import { addConfig } from './commands/config.ts';
import { addCrawl } from './commands/crawl.ts';
import { addDedup, addNear } from './commands/dedup.ts';
import { addDemo } from './commands/demo.ts';
import { addDiff } from './commands/diff.ts';
import { addExplain } from './commands/explain.ts';
import { addExport } from './commands/export.ts';
import { addFetch } from './commands/fetch.ts';
import { addGenerate } from './commands/generate.ts';
import { addHelp } from './commands/help.ts';
import { addInit } from './commands/init.ts';
import { addInject } from './commands/inject.ts';
import { addLinkclusters } from './commands/linkclusters.ts';
import { addMr } from './commands/mr.ts';
import { addParse } from './commands/parse.ts';
import { addPlan } from './commands/plan.ts';
import { addPlugins } from './commands/plugins.ts';
import { addReaddb } from './commands/readdb.ts';
import { addReadseg } from './commands/readseg.ts';
import { addRepair } from './commands/repair.ts';
import { addSchedule } from './commands/schedule.ts';
import { addSegments } from './commands/segments.ts';
import { addServe } from './commands/serve.ts';
import { addSimulate } from './commands/simulate.ts';
import { addSitemap } from './commands/sitemap.ts';
import { addRetry, addSkipped } from './commands/skipped.ts';
import { addTop } from './commands/top.ts';
import { addTouch } from './commands/touch.ts';
import { addExportDb, addImportDb, addMerge, addRepartition } from './commands/transfer.ts';
import { addUpdatedb } from './commands/updatedb.ts';
import { addVerify } from './commands/verify.ts';
import { EXIT } from './exit.ts';
import { type Handler, openSession, type Surroundings } from './session.ts';
import { collect } from './shared-options.ts';

/** Runs a handler for a command, with the session that its options ask for. */
export type Run = (command: Command, handler: Handler) => Promise<void>;

export interface Program {
  readonly command: Command;
  /** Exit code of the last run. */
  exitCode(): number;
}

/** The whole command tree. Parsing rejects with `CommanderError` for wrong usage and for `--help`. */
export function createProgram(surroundings: Surroundings): Program {
  const { stdout, stderr } = surroundings;
  let exitCode: number = EXIT.done;
  const run: Run = async (command, handler) => {
    const session = await openSession(command, surroundings);
    try {
      exitCode = (await handler(session)) ?? EXIT.done;
    } finally {
      await session.close();
    }
  };

  const program = new Command('incrawl')
    .description('Incremental web crawler: learns how often each page changes, fetches only what did, and says why.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'incrawl: ')),
    })
    .configureHelp({
      showGlobalOptions: true,
      subcommandDescription: (command) => command.description().replace(/\. .*/, '').replace(/\.$/, ''),
    })
    .showHelpAfterError('(add --help to the command for its options)')
    .option('--config <file>', 'configuration file (default: conf/incrawl.yaml, then incrawl.yaml)')
    .option('--dir <dir>', 'state directory', 'crawldb')
    .option('--json', 'print one JSON document instead of text for people')
    .option('-q, --quiet', 'no progress and no notes, only errors')
    .option('-v, --verbose', 'log in detail; stacks of unexpected errors')
    .option('-D, --define <key=value>', 'set a configuration key; repeatable', collect)
    .addHelpText('after', AFTER_HELP);
  for (const add of COMMANDS) add(program, run);
  return { command: program, exitCode: () => exitCode };
}

const COMMANDS: readonly ((program: Command, run: Run) => void)[] = [
  addDemo,
  addInit,
  addCrawl,
  addInject,
  addGenerate,
  addFetch,
  addParse,
  addUpdatedb,
  addSchedule,
  addSitemap,
  addTop,
  addServe,
  addTouch,
  addPlan,
  addSimulate,
  addReaddb,
  addReadseg,
  addExplain,
  addDiff,
  addChanges,
  addSkipped,
  addRetry,
  addExport,
  addDedup,
  addNear,
  addLinkclusters,
  addMr,
  addVerify,
  addRepair,
  addBackup,
  addRestore,
  addExportDb,
  addImportDb,
  addMerge,
  addRepartition,
  addSegments,
  addCheck,
  addPlugins,
  addConfig,
  addCompletion,
  addHelp,
];

const AFTER_HELP = `
Examples:
  incrawl demo                                          a changing site on this machine, crawled for several rounds
  incrawl crawl https://example.org/ --contact me@example.org --rounds 2
  incrawl readdb --stats

Exit codes: 0 done, 1 error, 2 usage or configuration, 3 disk full, 4 nothing due (generate), 5 crawl db locked,
11 stopped by a signal, resumable, 12 failure limit, 13 forced stop.`;
