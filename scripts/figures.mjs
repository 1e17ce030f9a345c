// Figures of the house: lines of code by part, files, functions, commands, keys, public names, and what a crawl of one
// page loads and runs. Needs a build (npm run ready).
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { programTree } from './reference-pages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = promisify(execFile);

const sourcesBelow = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));

const parsed = (file) =>
  ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);

/** Lines on which a token stands: neither blank nor all comment. */
function codeLines(source) {
  const lines = new Set();
  const visit = (node) => {
    if (node.getChildCount(source) > 0) {
      for (const child of node.getChildren(source)) if (!ts.isJSDoc(child)) visit(child);
      return;
    }
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
    if (node.getEnd() > node.getStart(source)) for (let line = first; line <= last; line++) lines.add(line);
  };
  visit(source);
  return lines.size;
}

/** Lengths in lines of functions and methods with a body in braces. */
function functionLengths(source) {
  const lengths = [];
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined && ts.isBlock(node.body)) {
      lengths.push(lineAt(node.getEnd()) - lineAt(node.getStart(source)) + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lengths;
}

const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
const sum = (values) => values.reduce((total, value) => total + value, 0);

function namesOf(entry) {
  const program = ts.createProgram([join(root, entry)], { module: ts.ModuleKind.NodeNext, skipLibCheck: true });
  const checker = program.getTypeChecker();
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(join(root, entry)));
  return checker.getExportsOfModule(symbol).length;
}

/** Files of the program that a command loads, and those of which a function runs, by the coverage of V8. */
async function loadedBy(args, cwd) {
  const coverage = mkdtempSync(join(tmpdir(), 'incrawl-figures-'));
  const [loaded, ran] = [new Set(), new Set()];
  try {
    await run(process.execPath, [join(root, 'dist/src/cli/main.js'), ...args], {
      cwd,
      env: { ...process.env, NODE_V8_COVERAGE: coverage },
    });
    for (const name of readdirSync(coverage)) {
      for (const { url, functions } of JSON.parse(readFileSync(join(coverage, name), 'utf8')).result) {
        if (!url.includes('/dist/src/') && !url.includes('/dist/plugins/')) continue;
        loaded.add(url);
        // The first function is the module itself.
        if (functions.slice(1).some(({ ranges }) => ranges[0].count > 0)) ran.add(url);
      }
    }
  } finally {
    rmSync(coverage, { recursive: true, force: true });
  }
  return { loaded: loaded.size, ran: ran.size };
}

async function onePage() {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(`<title>One</title><p>${'words of a page '.repeat(50)}`);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'incrawl-figures-'));
  try {
    const url = `http://127.0.0.1:${server.address().port}/`;
    const crawl = await loadedBy(['crawl', url, '--allow', '127.0.0.1', '--dir', 'crawl'], folder);
    return { crawl, readdb: await loadedBy(['readdb', '--url', url, '--dir', 'crawl'], folder) };
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const files = [...sourcesBelow('src'), ...sourcesBelow('plugins')].map((file) => {
  const source = parsed(file);
  const [top, part] = file.split('/');
  return { file, part: top === 'src' ? part : top, code: codeLines(source), functions: functionLengths(source) };
});
const below = (node) => node.children.flatMap((child) => [child, ...below(child)]);
const program = await programTree();
const commands = below(program);
const { CONFIG_KEYS } = await import(new URL('../dist/src/core/config/keys.js', import.meta.url).href);
const { crawl, readdb } = await onePage();
const codes = files.map(({ code }) => code);
const lengths = files.flatMap(({ functions }) => functions);
const optionNames = new Set(commands.flatMap(({ options }) => options.map(({ flags }) => flags)));

const rows = [
  ...[...new Set(files.map(({ part }) => part))].map((part) => {
    const own = files.filter((each) => each.part === part);
    return [`code lines of ${part}`, sum(own.map(({ code }) => code)), `${own.length} files`];
  }),
  ['code lines', sum(codes), `${files.length} files`],
  ['code lines of a file, median', percentile(codes, 0.5), ''],
  ['lines of a function, median', percentile(lengths, 0.5), `99th percentile ${percentile(lengths, 0.99)}`],
  ['commands', program.children.length, `${commands.length} with those of groups`],
  ['options', optionNames.size, `${sum(commands.map(({ options }) => options.length))} over all commands`],
  ['keys of the configuration', CONFIG_KEYS.size, ''],
  ['public names of incrawl', namesOf('src/crawler/index.ts'), ''],
  ['public names of incrawl/plugin', namesOf('src/core/plugin-host/api/plugin-api.ts'), ''],
  ['files that a crawl of one page loads', crawl.loaded, `${crawl.ran} run`],
  ['files that readdb --url loads', readdb.loaded, `${readdb.ran} run`],
  [
    'files outside cluster that say "partition"',
    files.filter(({ file, part }) => part !== 'cluster' && /partition/i.test(readFileSync(join(root, file), 'utf8')))
      .length,
    '',
  ],
];
if (process.argv.includes('--json')) {
  console.log(JSON.stringify(Object.fromEntries(rows.map(([name, value, more]) => [name, { value, more }])), null, 2));
} else {
  for (const [name, value, more] of rows) console.log(`${name.padEnd(44)} ${String(value).padStart(7)}  ${more}`);
}
