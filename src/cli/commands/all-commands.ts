// cli/commands/: the list of all commands; those that belong to one noun are a group, such as `due touch`.

import { type AddCommand, newProgram, type Program } from '../program/program.ts';
import type { Surroundings } from '../surroundings.ts';

type Load = () => Promise<AddCommand>;

/** Commands on one noun. The noun alone prints the help of the group. */
interface Group {
  readonly description: string;
  readonly examples: readonly string[];
  readonly members: ReadonlyMap<string, Load>;
}

const DUE: Group = {
  description: 'Make URLs due: known ones, failed ones, those of sitemaps.',
  examples: ['due touch https://example.org/news', 'due retry --status gone', 'due sitemap https://example.org'],
  members: new Map<string, Load>([
    ['touch', async () => (await import('./crawl/touch.ts')).addTouch],
    ['retry', async () => (await import('./crawl/retry.ts')).addRetry],
    ['sitemap', async () => (await import('./crawl/sitemap.ts')).addSitemap],
  ]),
};

const FORECAST: Group = {
  description: 'Visits to come, and past ones by other schedules. Changes nothing.',
  examples: ['forecast plan --days 7', 'forecast simulate --schedule adaptive'],
  members: new Map<string, Load>([
    ['plan', async () => (await import('./ask/plan.ts')).addPlan],
    ['simulate', async () => (await import('./ask/simulate.ts')).addSimulate],
  ]),
};

const DUPLICATES: Group = {
  description: 'Pages like a page, and families of like URLs. "incrawl dedup" marks the duplicates of all pages.',
  examples: ['duplicates near https://example.org/news/1', 'duplicates families'],
  members: new Map<string, Load>([
    ['near', async () => (await import('./ask/near.ts')).addNear],
    ['families', async () => (await import('./ask/families.ts')).addFamilies],
  ]),
};

const STATE: Group = {
  description: 'Verify, repair, back up and prune the state directory.',
  examples: ['state verify', 'state backup /backups/crawl-2026-11', 'state prune --keep-days 90'],
  members: new Map<string, Load>([
    ['verify', async () => (await import('./care/verify.ts')).addVerify],
    ['repair', async () => (await import('./care/repair.ts')).addRepair],
    ['backup', async () => (await import('./care/backup.ts')).addBackup],
    ['restore', async () => (await import('./care/restore.ts')).addRestore],
    ['prune', async () => (await import('./care/prune.ts')).addPrune],
  ]),
};

const DB: Group = {
  description: 'Bring a whole crawl db elsewhere: as lines of JSON, into another one, or split over several nodes.',
  examples: ['db export | gzip > crawldb.jsonl.gz', 'db merge ../news/crawldb'],
  members: new Map<string, Load>([
    ['export', async () => (await import('./transfer/db-export.ts')).addDbExport],
    ['import', async () => (await import('./transfer/db-import.ts')).addDbImport],
    ['merge', async () => (await import('./transfer/merge.ts')).addMerge],
    ['repartition', async () => (await import('./transfer/repartition.ts')).addRepartition],
  ]),
};

/**
 * All commands, in the order in which `incrawl help commands` lists them. A new one is a file `FOLDER/NAME.ts` beside
 * this one that exports an `AddCommand`, and a line here. Folders: `crawl` changes the crawl db, `ask` reads it, `care`
 * checks and saves the state directory, `transfer` moves data in and out, `setup` is the rest.
 */
const ALL_COMMANDS: ReadonlyMap<string, Load | Group> = new Map<string, Load | Group>([
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
  ['watch', async () => (await import('./crawl/watch.ts')).addWatch],
  ['due', DUE],
  ['top', async () => (await import('./ask/top.ts')).addTop],
  ['serve', async () => (await import('./ask/serve.ts')).addServe],
  ['ctl', async () => (await import('./crawl/ctl.ts')).addCtl],
  ['readdb', async () => (await import('./ask/readdb.ts')).addReaddb],
  ['readseg', async () => (await import('./ask/readseg.ts')).addReadseg],
  ['explain', async () => (await import('./ask/explain.ts')).addExplain],
  ['diff', async () => (await import('./ask/diff.ts')).addDiff],
  ['changes', async () => (await import('./ask/changes.ts')).addChanges],
  ['skipped', async () => (await import('./ask/skipped.ts')).addSkipped],
  ['forecast', FORECAST],
  ['export', async () => (await import('./transfer/export.ts')).addExport],
  ['mirror', async () => (await import('./transfer/mirror.ts')).addMirror],
  ['dedup', async () => (await import('./crawl/dedup.ts')).addDedup],
  ['duplicates', DUPLICATES],
  ['mr', async () => (await import('./transfer/mr.ts')).addMr],
  ['state', STATE],
  ['db', DB],
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
  const adds = [...ALL_COMMANDS].map(([name, entry]) => loaded(name, entry));
  return newProgram(surroundings, await Promise.all(adds));
}

/** The program with only the command that the arguments name: loading all takes longer than most answers. */
export async function programFor(surroundings: Surroundings): Promise<Program> {
  const [name = '', member] = surroundings.argv;
  const entry = OF_ALL.has(name) ? undefined : ALL_COMMANDS.get(name);
  return entry === undefined
    ? createProgram(surroundings)
    : newProgram(surroundings, [await loaded(name, entry, member)]);
}

/** @param member of a group; only this one is loaded if the group has it */
async function loaded(name: string, entry: Load | Group, member = ''): Promise<AddCommand> {
  if (typeof entry === 'function') return entry();
  const { description, examples, members } = entry;
  const named = members.get(member);
  const adds = await Promise.all((named === undefined ? [...members.values()] : [named]).map((load) => load()));
  return (program, run) => {
    const lines = examples.map((example) => `\n  incrawl ${example}`).join('');
    const group = program.command(name).description(description).addHelpText('after', `\nExamples:${lines}`);
    for (const add of adds) add(group, run);
  };
}
