import { addChanges } from '../commands/ask/changes.ts';
import { addCheck } from '../commands/ask/check.ts';
import { addDedup, addNear } from '../commands/ask/dedup.ts';
import { addDiff } from '../commands/ask/diff.ts';
import { addExplain } from '../commands/ask/explain.ts';
import { addPlan } from '../commands/ask/plan.ts';
import { addReaddb } from '../commands/ask/readdb.ts';
import { addReadseg } from '../commands/ask/readseg.ts';
import { addServe } from '../commands/ask/serve.ts';
import { addSimulate } from '../commands/ask/simulate.ts';
import { addRetry, addSkipped } from '../commands/ask/skipped.ts';
import { addTop } from '../commands/ask/top.ts';
import { addBackup, addRestore } from '../commands/care/backup.ts';
import { addRepair } from '../commands/care/repair.ts';
import { addSegments } from '../commands/care/segments.ts';
import { addVerify } from '../commands/care/verify.ts';
import { addCrawl } from '../commands/crawl/crawl.ts';
import { addDemo } from '../commands/crawl/demo.ts';
import { addFetch } from '../commands/crawl/fetch.ts';
import { addGenerate } from '../commands/crawl/generate.ts';
import { addInject } from '../commands/crawl/inject.ts';
import { addParse } from '../commands/crawl/parse.ts';
import { addSchedule } from '../commands/crawl/schedule.ts';
import { addSitemap } from '../commands/crawl/sitemap.ts';
import { addTouch } from '../commands/crawl/touch.ts';
import { addUpdatedb } from '../commands/crawl/updatedb.ts';
import { addWork } from '../commands/crawl/work.ts';
import { addCompletion } from '../commands/setup/completion.ts';
import { addConfig } from '../commands/setup/config.ts';
import { addHelp } from '../commands/setup/help.ts';
import { addInit } from '../commands/setup/init.ts';
import { addPlugins } from '../commands/setup/plugins.ts';
import { addExport } from '../commands/transfer/export.ts';
import { addLinkclusters } from '../commands/transfer/linkclusters.ts';
import { addMr } from '../commands/transfer/mr.ts';
import { addExportDb, addImportDb, addMerge, addRepartition } from '../commands/transfer/transfer.ts';
import type { Surroundings } from '../session.ts';
import { type AddCommand, newProgram, type Program } from './new-program.ts';

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
