// The pages of docs/reference by file name. Needs a build: what is documented is what runs.
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import ts from 'typescript';

const root = new URL('..', import.meta.url);
const built = (path) => import(new URL(`dist/src/${path}`, root).href);

export async function referencePages() {
  const [{ createProgram }, { commandsPage }, tables, { queryPage }, { asMarkdown }] = await Promise.all(
    [
      'cli/commands/all-commands.js',
      'cli/reference/commands.js',
      'cli/reference/tables.js',
      'cli/reference/query.js',
      'cli/reference/page.js',
    ].map(built),
  );
  const stream = new PassThrough();
  const surroundings = { argv: [], env: {}, stdin: () => process.stdin, stdout: stream, stderr: stream };
  return new Map([
    ['changes.md', asMarkdown(tables.changesPage())],
    ['commands.md', asMarkdown(commandsPage(createProgram(surroundings).command))],
    ['configuration.md', asMarkdown(tables.configurationPage())],
    ['errors.md', asMarkdown(tables.errorsPage())],
    ['findings.md', asMarkdown(tables.findingsPage())],
    ['query.md', asMarkdown(queryPage())],
    ['skips.md', asMarkdown(tables.skipsPage())],
    ['states.md', asMarkdown(tables.statesPage())],
    ['plugin-api.md', pluginApiPage()],
  ]);
}

/**
 * Every exported declaration of the plugin api with its comment, as the source has it; bodies of functions left out.
 */
function pluginApiPage() {
  const parts = ['plugin-api.ts', 'exporter-api.ts'].flatMap(declarationsOf);
  const intro = 'What `incrawl/plugin` exports to plugins; `incrawl plugins new KIND-NAME` writes one that works.';
  return `# Plugin API\n\n${intro}\n\n${parts.join('\n\n')}\n`;
}

function declarationsOf(file) {
  const text = readFileSync(new URL(`src/plugin-host/api/${file}`, root), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const parts = [];
  for (const statement of source.statements) {
    const isExported = ts.canHaveModifiers(statement)
      ? ts.getModifiers(statement)?.some((each) => each.kind === ts.SyntaxKind.ExportKeyword)
      : false;
    if (!isExported || statement.name === undefined) continue;
    const end = ts.isFunctionDeclaration(statement) && statement.body ? statement.body.getStart() : statement.getEnd();
    const code = text.slice(statement.getFullStart(), end).trim();
    parts.push(
      `## ${statement.name.text}\n\n\`\`\`ts\n${code}${ts.isFunctionDeclaration(statement) ? ';' : ''}\n\`\`\``,
    );
  }
  return parts;
}
