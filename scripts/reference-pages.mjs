// The pages of docs/reference by file name. Needs a build: what is documented is what runs.
import { PassThrough } from 'node:stream';
import { pluginApiPage } from './plugin-api-page.mjs';

const root = new URL('..', import.meta.url);
const built = (path) => import(new URL(`dist/src/${path}`, root).href);

const stream = new PassThrough();
const surroundings = { argv: [], env: {}, stdin: () => process.stdin, stdout: stream, stderr: stream };

/** The commands of the built program with their options. */
export async function programTree() {
  const [{ createProgram }, { commandTree }] = await Promise.all(
    ['cli/commands/all-commands.js', 'cli/completion/command-tree.js'].map(built),
  );
  return commandTree((await createProgram(surroundings)).command);
}

export async function referencePages() {
  const [{ createProgram }, { commandsPage }, tables, { queryPage }, { asMarkdown }] = await Promise.all(
    [
      'cli/commands/all-commands.js',
      'cli/reference/commands.js',
      'cli/reference/page.js',
      'cli/reference/query.js',
      'cli/reference/page.js',
    ].map(built),
  );
  return new Map([
    ['changes.md', asMarkdown(tables.changesPage())],
    ['commands.md', asMarkdown(commandsPage((await createProgram(surroundings)).command))],
    ['configuration.md', asMarkdown(tables.configurationPage())],
    ['errors.md', asMarkdown(tables.errorsPage())],
    ['findings.md', asMarkdown(tables.findingsPage())],
    ['query.md', asMarkdown(queryPage())],
    ['skips.md', asMarkdown(tables.skipsPage())],
    ['states.md', asMarkdown(tables.statesPage())],
    ['plugin-api.md', pluginApiPage()],
  ]);
}
