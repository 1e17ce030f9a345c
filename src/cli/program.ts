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
import { addWork } from './commands/work.ts';

import { type AddCommand, newProgram, type Program } from './new-program.ts';
import type { Surroundings } from './session.ts';

export type { Program, Run } from './new-program.ts';

/** The whole command tree. */
export function createProgram(surroundings: Surroundings): Program {
  return newProgram(surroundings, COMMANDS);
}

const COMMANDS: readonly AddCommand[] = [
  addDemo,
  addInit,
  addCrawl,
  addWork,
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
