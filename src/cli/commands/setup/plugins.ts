import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { PluginExam, PluginView } from '../../../crawler/views.ts';
import { collect } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { safeLines, safeText } from '../../../render/safe-text.ts';
import type { Column } from '../../../render/table.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer, writeList } from '../../program/write-answer.ts';

const COLUMNS: readonly Column<PluginView>[] = [
  { title: 'plugin', cell: (row) => row.name },
  { title: 'kind', rank: 2, cell: (row) => row.kind },
  {
    title: 'from',
    max: 60,
    rank: 1,
    cell: (row) => (row.bundled ? (row.onDemand ? 'bundled, loaded on demand' : 'bundled') : row.file),
  },
  {
    title: 'options',
    max: 80,
    rank: 3,
    cell: (row) => (Object.keys(row.options).length === 0 ? '' : JSON.stringify(row.options)),
  },
];

/** Where plugins are found by their names. */
const PLUGINS = 'conf/plugins';

export function addPlugins(program: Command, run: Run): void {
  const plugins = program
    .command('plugins')
    .description('List, create and test plugins.')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl plugins list\n  incrawl plugins new urlfilter-no-calendar\n  incrawl plugins test urlfilter-no-calendar',
    );

  const list = plugins
    .command('list', { isDefault: true })
    .description(
      'The active plugins in their order, with their options; then the bundled exporters, which are loaded on demand.',
    )
    .addHelpText('after', '\nExample:\n  incrawl plugins list --json');
  list.action(() =>
    run(list, async (session) => {
      await session.withChecker(async (checker) => {
        await writeList(session, await checker.plugins(), COLUMNS, {});
      });
    }),
  );

  const create = plugins
    .command('new')
    .argument('<name>', '<kind>-<name>, such as urlfilter-no-calendar')
    .argument('[folder]', 'where to create its folder', PLUGINS)
    .description('Write the skeleton of a plugin with a test. Nothing is overwritten.')
    .option('--dry-run', 'only say which files would be written')
    .addHelpText('after', '\nExample:\n  incrawl plugins new parsefilter-prices');
  create.action((name: string, folder: string, { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(create, async (session) => {
      const { scaffoldPlugin } = await import('../../../core/plugin-host/loading/scaffold.ts');
      const files = await scaffoldPlugin(name, folder, dryRun);
      const lines = [
        ...files.map((file) => `wrote ${file}`),
        '',
        `Test it: incrawl plugins test ${folder === PLUGINS ? name : dirname(files[0] ?? '')}`,
        `Then add "- ${name}" to the list in conf/plugins.yaml.`,
      ];
      await writeAnswer(session, { name, files }, () => `${lines.map(safeText).join('\n')}\n`, dryRun);
    }),
  );

  const test = plugins
    .command('test')
    .argument('<name>', 'a bundled plugin, a plugin in plugins/ beside the configuration, a path, or a package')
    .description('Test a plugin against the contract of its kind, and run plugin.test.ts beside it.')
    .option('--options <json>', 'its options, a JSON object', jsonObject)
    .option('--body <file>', 'a page for parsers, parse filters and signatures; repeatable', collect)
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl plugins test parse-prices --body prices.json\n  incrawl plugins test parsefilter-prices --options \'{"currency": "EUR"}\'',
    );
  test.action((name: string, { body: files = [], ...flags }: TestFlags) =>
    run(test, async (session) => {
      const { examinePlugin } = await import('../../../crawler/index.ts');
      const bodies = await Promise.all(files.map((file) => readFile(file, 'utf8')));
      const exam = await examinePlugin(name, { baseDir: session.loaded.baseDir, bodies, ...flags });
      await writeAnswer(session, exam, () => examText(exam));
      return exam.tests?.isPassed === false ? EXIT.error : EXIT.done;
    }),
  );
}

interface TestFlags {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly body?: readonly string[];
}

function examText({ name, kind, tests }: PluginExam): string {
  const contract = `${safeText(name)} meets the contract of its kind, ${kind}.\n`;
  if (tests === null) return contract;
  const file = safeText(tests.file);
  if (tests.isPassed) return `${contract}Its own tests pass: ${tests.tests}, in ${file}.\n`;
  const fault = tests.tests === 0 ? `${file} has no test that node:test can run:` : `Tests fail in ${file}:`;
  return `${contract}${fault}\n${safeLines(tests.report)}`;
}

function jsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError('Expected a JSON object.');
  }
  return value as Record<string, unknown>;
}
