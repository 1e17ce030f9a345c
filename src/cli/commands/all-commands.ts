// cli/commands/: the list of all commands; each group of them has a folder.

import { type AddCommand, newProgram, type Program } from '../program/program.ts';
import type { Surroundings } from '../surroundings.ts';
import { addChanges } from './ask/changes.ts';
import { addCheck } from './ask/check.ts';
import { addDiff } from './ask/diff.ts';
import { addExplain } from './ask/explain.ts';
import { addLinkclusters } from './ask/linkclusters.ts';
import { addNear } from './ask/near.ts';
import { addPlan } from './ask/plan.ts';
import { addReaddb } from './ask/readdb.ts';
import { addReadseg } from './ask/readseg.ts';
import { addServe } from './ask/serve.ts';
import { addSimulate } from './ask/simulate.ts';
import { addSkipped } from './ask/skipped.ts';
import { addTop } from './ask/top.ts';
import { addBackup } from './care/backup.ts';
import { addCookies } from './care/cookies.ts';
import { addPartitions } from './care/partitions.ts';
import { addRepair } from './care/repair.ts';
import { addRestore } from './care/restore.ts';
import { addSegments } from './care/segments.ts';
import { addVerify } from './care/verify.ts';
import { addCrawl } from './crawl/crawl.ts';
import { addCtl } from './crawl/ctl.ts';
import { addDedup } from './crawl/dedup.ts';
import { addDemo } from './crawl/demo.ts';
import { addFetch } from './crawl/fetch.ts';
import { addGenerate } from './crawl/generate.ts';
import { addInject } from './crawl/inject.ts';
import { addParse } from './crawl/parse.ts';
import { addReparse } from './crawl/reparse.ts';
import { addRetry } from './crawl/retry.ts';
import { addSchedule } from './crawl/schedule.ts';
import { addSitemap } from './crawl/sitemap.ts';
import { addTouch } from './crawl/touch.ts';
import { addUpdatedb } from './crawl/updatedb.ts';
import { addWork } from './crawl/work.ts';
import { addCompletion } from './setup/completion.ts';
import { addConfig } from './setup/config.ts';
import { addHelp } from './setup/help.ts';
import { addInit } from './setup/init.ts';
import { addPackages } from './setup/packages.ts';
import { addPlugins } from './setup/plugins.ts';
import { addExport } from './transfer/export.ts';
import { addExportDb } from './transfer/export-db.ts';
import { addImportDb } from './transfer/import-db.ts';
import { addMerge } from './transfer/merge.ts';
import { addMr } from './transfer/mr.ts';
import { addRepartition } from './transfer/repartition.ts';

/**
 * All commands, in the order in which `incrawl --help` lists them. A new one is a file `GROUP/NAME.ts` beside this one
 * that exports an `AddCommand`, and a line here. Groups: `crawl` changes the crawl db, `ask` reads it, `care` checks
 * and saves the state directory, `transfer` moves data in and out, `setup` is the rest.
 */
const ALL_COMMANDS: readonly AddCommand[] = [
  addDemo,
  addInit,
  addCrawl,
  addWork,
  addInject,
  addGenerate,
  addFetch,
  addParse,
  addUpdatedb,
  addReparse,
  addSchedule,
  addSitemap,
  addTop,
  addServe,
  addCtl,
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
  addPartitions,
  addCookies,
  addCheck,
  addPlugins,
  addPackages,
  addConfig,
  addCompletion,
  addHelp,
];

/** The program with all its commands. */
export function createProgram(surroundings: Surroundings): Program {
  return newProgram(surroundings, ALL_COMMANDS);
}
