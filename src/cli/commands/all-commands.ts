// cli/commands/: the list of all commands; each group of them has a folder.

import { type AddCommand, newProgram, type Program } from '../program/program.ts';
import type { Surroundings } from '../surroundings.ts';

/**
 * All commands, in the order in which `incrawl --help` lists them. A new one is a file `GROUP/NAME.ts` beside this one
 * that exports an `AddCommand`, and a line here. Groups: `crawl` changes the crawl db, `ask` reads it, `care` checks
 * and saves the state directory, `transfer` moves data in and out, `setup` is the rest.
 */
const ALL_COMMANDS: ReadonlyMap<string, () => Promise<AddCommand>> = new Map<string, () => Promise<AddCommand>>([
  ['demo', async () => (await import('./crawl/demo.ts')).addDemo],
  ['init', async () => (await import('./setup/init.ts')).addInit],
  ['crawl', async () => (await import('./crawl/crawl.ts')).addCrawl],
  ['work', async () => (await import('./crawl/work.ts')).addWork],
  ['inject', async () => (await import('./crawl/inject.ts')).addInject],
  ['generate', async () => (await import('./crawl/generate.ts')).addGenerate],
  ['fetch', async () => (await import('./crawl/fetch.ts')).addFetch],
  ['parse', async () => (await import('./crawl/parse.ts')).addParse],
  ['updatedb', async () => (await import('./crawl/updatedb.ts')).addUpdatedb],
  ['reparse', async () => (await import('./crawl/reparse.ts')).addReparse],
  ['schedule', async () => (await import('./crawl/schedule.ts')).addSchedule],
  ['sitemap', async () => (await import('./crawl/sitemap.ts')).addSitemap],
  ['top', async () => (await import('./ask/top.ts')).addTop],
  ['serve', async () => (await import('./ask/serve.ts')).addServe],
  ['ctl', async () => (await import('./crawl/ctl.ts')).addCtl],
  ['touch', async () => (await import('./crawl/touch.ts')).addTouch],
  ['plan', async () => (await import('./ask/plan.ts')).addPlan],
  ['simulate', async () => (await import('./ask/simulate.ts')).addSimulate],
  ['readdb', async () => (await import('./ask/readdb.ts')).addReaddb],
  ['readseg', async () => (await import('./ask/readseg.ts')).addReadseg],
  ['explain', async () => (await import('./ask/explain.ts')).addExplain],
  ['diff', async () => (await import('./ask/diff.ts')).addDiff],
  ['changes', async () => (await import('./ask/changes.ts')).addChanges],
  ['skipped', async () => (await import('./ask/skipped.ts')).addSkipped],
  ['retry', async () => (await import('./crawl/retry.ts')).addRetry],
  ['export', async () => (await import('./transfer/export.ts')).addExport],
  ['dedup', async () => (await import('./crawl/dedup.ts')).addDedup],
  ['near', async () => (await import('./ask/near.ts')).addNear],
  ['linkclusters', async () => (await import('./ask/linkclusters.ts')).addLinkclusters],
  ['mr', async () => (await import('./transfer/mr.ts')).addMr],
  ['verify', async () => (await import('./care/verify.ts')).addVerify],
  ['repair', async () => (await import('./care/repair.ts')).addRepair],
  ['backup', async () => (await import('./care/backup.ts')).addBackup],
  ['restore', async () => (await import('./care/restore.ts')).addRestore],
  ['export-db', async () => (await import('./transfer/export-db.ts')).addExportDb],
  ['import-db', async () => (await import('./transfer/import-db.ts')).addImportDb],
  ['merge', async () => (await import('./transfer/merge.ts')).addMerge],
  ['repartition', async () => (await import('./transfer/repartition.ts')).addRepartition],
  ['segments', async () => (await import('./care/segments.ts')).addSegments],
  ['partitions', async () => (await import('./care/partitions.ts')).addPartitions],
  ['cookies', async () => (await import('./care/cookies.ts')).addCookies],
  ['check', async () => (await import('./ask/check.ts')).addCheck],
  ['plugins', async () => (await import('./setup/plugins.ts')).addPlugins],
  ['packages', async () => (await import('./setup/packages.ts')).addPackages],
  ['config', async () => (await import('./setup/config.ts')).addConfig],
  ['completion', async () => (await import('./setup/completion.ts')).addCompletion],
  ['help', async () => (await import('./setup/help.ts')).addHelp],
]);

/** Commands that show the others. */
const OF_ALL: ReadonlySet<string> = new Set(['completion', 'help']);

/** The program with all its commands. */
export async function createProgram(surroundings: Surroundings): Promise<Program> {
  return newProgram(surroundings, await Promise.all([...ALL_COMMANDS.values()].map((load) => load())));
}

/** The program with the command that the arguments name: to load all takes longer than most answers. */
export async function programFor(surroundings: Surroundings): Promise<Program> {
  const [name = ''] = surroundings.argv;
  const load = OF_ALL.has(name) ? undefined : ALL_COMMANDS.get(name);
  return load === undefined ? createProgram(surroundings) : newProgram(surroundings, [await load()]);
}
