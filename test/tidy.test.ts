import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { DOORS } from './doors.ts';

const root = resolve(import.meta.dirname, '..');

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const isTest = (file: string): boolean => file.endsWith('.test.ts');
const below = (folder: string): string[] => filesBelow(folder).filter((file) => file.endsWith('.ts'));
const sources = below('src');
const plugins = below('plugins');
const everything = [...sources, ...plugins, ...below('test'), ...below('bench')];
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** What a file imports, types included: files of the project by their paths, packages by their names. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(textOf(file), true, true);
  return importedFiles.map(({ fileName: name }) =>
    name.startsWith('.') ? relative(root, resolve(root, dirname(file), name)) : name,
  );
}

const imports = new Map([...sources, ...plugins].map((file) => [file, importsOf(file)]));

/** The parts of the house, and what each may import of the others; src/ARCHITECTURE.md says why. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  page: [],
  core: ['page'],
  store: ['core', 'page'],
  http: ['core', 'page'],
  operations: ['store', 'http', 'core', 'page'],
  transports: ['http', 'core', 'page'],
  published: ['operations', 'store', 'core', 'page'],
  cluster: ['operations', 'store', 'core', 'page'],
  delivery: ['cluster', 'operations', 'store', 'core', 'page'],
  query: ['delivery', 'cluster', 'operations', 'store', 'http', 'core', 'page'],
  care: ['delivery', 'cluster', 'operations', 'store', 'core', 'page'],
  crawler: [
    ...['care', 'query', 'delivery', 'cluster', 'published', 'transports'],
    ...['operations', 'store', 'http', 'core', 'page'],
  ],
  demo: ['crawler', 'core'],
  render: ['crawler', 'cluster', 'core', 'page'],
  remote: ['render', 'crawler', 'query', 'operations', 'core'],
  serve: ['remote', 'render', 'crawler', 'query', 'cluster', 'operations', 'core'],
  cli: [
    ...['serve', 'remote', 'render', 'demo', 'crawler', 'care', 'query', 'delivery', 'cluster', 'published'],
    ...['operations', 'core'],
  ],
};

/** Parts above `operations` of which it loads a file where a configuration asks for it, and never before. */
const LOADED_ON_DEMAND: Readonly<Record<string, readonly string[]>> = { operations: ['cluster', 'published'] };

const CONTRACTS = ['core/ports', 'core/domain', 'page'];
const OPTIONAL = ['core/packages', ...CONTRACTS];

/** Walls within parts: folders of src, and the folders that each may import beside itself. */
const WALLS: Readonly<Record<string, readonly string[]>> = {
  'core/domain': ['page'],
  'core/ports': ['core/domain', 'page'],
  'core/steps': CONTRACTS,
  'core/packages': ['core/domain'],
  'core/config': ['core/domain', 'page'],
  http: CONTRACTS,
  'store/rows': CONTRACTS,
  'store/leveldb': ['store/rows', ...CONTRACTS],
  'store/files': CONTRACTS,
  'operations/system': CONTRACTS,
  'core/plugin-host': ['core/config', ...OPTIONAL],
  'cluster/ports': CONTRACTS,
  'cluster/postgres': ['cluster/ports', ...OPTIONAL],
  'cluster/s3': CONTRACTS,
  'cluster/object-segments': ['store/files', ...CONTRACTS],
  'published/redis': OPTIONAL,
  'published/near-grouping': ['store/files', ...CONTRACTS],
  'transports/undici': ['transports/http2', 'http', ...CONTRACTS],
  'transports/http2': ['http', ...CONTRACTS],
  'transports/browser': OPTIONAL,
  // What people type and see asks the crawler and its operations. It knows neither steps, nor store, nor http.
  demo: ['crawler', 'core/config', 'core/ports', 'core/domain'],
  render: ['crawler', 'cluster', 'core/domain', 'page'],
  remote: ['render', 'crawler', 'query', 'operations', 'core/domain'],
  serve: ['remote', 'render', 'crawler', 'query', 'cluster', 'operations', 'core/config', 'core/domain'],
  cli: [
    ...['serve', 'remote', 'render', 'demo', 'crawler', 'care', 'query', 'delivery', 'cluster', 'published'],
    ...['operations', 'core/plugin-host', 'core/packages', 'core/config', 'core/domain'],
  ],
};

const isIn = (file: string, folder: string): boolean => file.startsWith(`src/${folder}/`);
const partOf = (file: string): string => file.split('/')[1]!;
const wallsAround = (file: string): string[] => Object.keys(WALLS).filter((folder) => isIn(file, folder));

/** The one bundled plugin whose code is imported by name: a parser's answer cannot hold the faults of a sitemap. */
const SITEMAP_PARSER = 'src/core/plugin-host/parsing/sitemap-parser.ts';

/** Files that are loaded by `import()` when a line is reached, by the paths in the calls. */
function loadedLater(file: string): Set<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [path] = node.arguments;
      if (path !== undefined && ts.isStringLiteral(path))
        found.add(relative(root, resolve(root, dirname(file), path.text)));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest));
  return found;
}

/** Names that a module exports, by its text: its declarations, and those of modules that it exports as a whole. */
function exportedNames(file: string): Set<string> {
  const found = new Set<string>();
  const isExported = (node: ts.Statement): boolean =>
    ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  for (const node of ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest).statements) {
    if (ts.isExportDeclaration(node)) {
      const { exportClause, moduleSpecifier } = node;
      if (exportClause !== undefined && ts.isNamedExports(exportClause)) {
        for (const { name } of exportClause.elements) found.add(name.text);
      } else if (moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier)) {
        const target = relative(root, resolve(root, dirname(file), moduleSpecifier.text));
        for (const name of exportedNames(target)) found.add(name);
      }
    } else if (isExported(node)) {
      const names = ts.isVariableStatement(node)
        ? node.declarationList.declarations.map(({ name }) => name)
        : [(node as ts.DeclarationStatement).name];
      for (const name of names) if (name !== undefined && ts.isIdentifier(name)) found.add(name.text);
    }
  }
  return found;
}

/** Whether a file may import one of another part. */
function isAllowed(file: string, target: string): boolean {
  const [part, other] = [partOf(file), partOf(target)];
  if (part === other || PARTS[part]?.includes(other)) return true;
  return LOADED_ON_DEMAND[part]?.includes(other) === true && loadedLater(file).has(target);
}

/** Groups of files that import each other in a circle, by Tarjan's algorithm. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    low.set(file, order.get(file)!);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next) || next === file) continue;
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!));
    }
    if (low.get(file) !== order.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}

function identifiersOf(file: string): Set<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest));
  return found;
}

/** `hostLessons` has the words host and lessons. */
const wordsOf = (identifier: string): string[] =>
  identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);

/** Words that only this project used for what the field has names for (docs/decisions/001-parts.md). */
const BANNED = /^(?:purses?|markets?|crowds?|pushed|lessons?|rooms?|told|relink\w*|nobody|vain)$/;

/** Interfaces called `...Deps`, with the names of their fields and of the interfaces that they extend. */
function depsOf(file: string): { name: string; fields: string[]; extended: string[] }[] {
  return ts
    .createSourceFile(file, textOf(file), ts.ScriptTarget.Latest)
    .statements.filter(ts.isInterfaceDeclaration)
    .filter(({ name }) => name.text.endsWith('Deps'))
    .map(({ name, members, heritageClauses }) => ({
      name: name.text,
      fields: members.map((member) => (member.name as ts.Identifier).text),
      extended: (heritageClauses ?? []).flatMap(({ types }) =>
        types.map(({ expression }) => (expression as ts.Identifier).text),
      ),
    }));
}

describe('the parts of src', () => {
  it('every source file lies in a part', () => {
    expect(sources.filter((file) => PARTS[partOf(file)] === undefined || file.split('/').length < 3)).toEqual([]);
  });

  it('imports go from a part to those below it, plugins included', () => {
    const wrong = sources.flatMap((file) =>
      imports
        .get(file)!
        .filter((target) =>
          target.startsWith('plugins/')
            ? file !== SITEMAP_PARSER
            : target.startsWith('src/') && !isAllowed(file, target),
        )
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('what a part is not asked for through its doors is its own business; each door is used', () => {
    const entered = sources.flatMap((file) =>
      imports.get(file)!.filter((target) => target.startsWith('src/') && partOf(target) !== partOf(file)),
    );
    for (const [part, doors] of Object.entries(DOORS)) {
      const used = new Set(entered.filter((target) => isIn(target, part)));
      expect([...used].sort(), part).toEqual(doors.map((door) => `src/${part}/${door}.ts`).sort());
    }
  });

  it('the walls within parts hold', () => {
    const wrong = sources.flatMap((file) =>
      wallsAround(file).flatMap((folder) =>
        imports
          .get(file)!
          .filter((target) => target.startsWith('src/'))
          .filter((target) => ![folder, ...WALLS[folder]!].some((other) => isIn(target, other)))
          .map((target) => `${file} -> ${target}`),
      ),
    );
    expect(wrong).toEqual([]);
    expect(Object.keys(WALLS).filter((folder) => !sources.some((file) => isIn(file, folder)))).toEqual([]);
  });

  it('the programming interface and the plugin API have at most 150 names together', () => {
    const names = ['src/crawler/index.ts', 'src/core/plugin-host/api/plugin-api.ts'].map(exportedNames);
    expect(names.map((each) => each.size > 50)).toEqual([true, true]);
    expect(names.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(150);
  });

  it('no files import each other in a circle, types included', () => {
    expect(circles(imports)).toEqual([]);
  });

  it('a circle of imports would be found', () => {
    const graph = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['a']],
      ['d', ['d', 'e']],
      ['e', []],
    ]);
    expect(circles(graph)).toEqual([['a', 'b', 'c']]);
  });

  it('no file has more than 400 lines', () => {
    const isGenerated = (file: string): boolean => file.endsWith('content-trees.ts');
    const long = [...sources, ...plugins].filter((file) => !isTest(file) && !isGenerated(file));
    expect(long.filter((file) => textOf(file).split('\n').length - 1 > 400)).toEqual([]);
  });

  it('the first file of a folder begins with a line that says what lives there', () => {
    const first = new Map<string, string>();
    const modules = sources.filter((file) => !textOf(file).startsWith('#!'));
    for (const file of modules.sort().reverse()) first.set(dirname(file), file);
    const silent = [...first].filter(([folder, file]) => !textOf(file).startsWith(`// ${folder.slice(4)}/: `));
    expect(silent).toEqual([]);
  });

  it('deps have at most eight fields', () => {
    const all = new Map(sources.flatMap((file) => depsOf(file).map((deps) => [deps.name, deps] as const)));
    const fieldsOf = (name: string): string[] => {
      const deps = all.get(name);
      return deps === undefined ? [] : [...deps.fields, ...deps.extended.flatMap(fieldsOf)];
    };
    expect([...all.keys()].filter((name) => new Set(fieldsOf(name)).size > 8)).toEqual([]);
    expect(all.size).toBeGreaterThan(10);
  });
});

describe('words', () => {
  it('no identifier has a word that only this project knows', () => {
    const wrong = everything.flatMap((file) =>
      [...identifiersOf(file)]
        .filter((name) => wordsOf(name).some((word) => BANNED.test(word)))
        .map((name) => `${file}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('lines of comments end at column 120', () => {
    const wrong = everything.flatMap((file) =>
      textOf(file)
        .split('\n')
        .filter((line) => line.length > 120 && /^\s*(?:\/\/ (?!biome-ignore)|\* |\/\*\*)/.test(line))
        .map((line) => `${file}: ${line.trim().slice(0, 60)}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('code', () => {
  it('the domain uses no package, no Node module, no clock, no randomness', () => {
    const domain = sources.filter((file) => isIn(file, 'page') || isIn(file, 'core/domain'));
    const packages = domain.flatMap((file) =>
      imports
        .get(file)!
        .filter((name) => !name.startsWith('src/'))
        .map((name) => `${file}: ${name}`),
    );
    expect(packages).toEqual([]);
    const banned = /\bDate\.now\b|\bMath\.random\b|\bprocess\.|\basync\b|\bawait\b|\bnew Date\(\)/;
    const code = (file: string): string => textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(domain.filter((file) => banned.test(code(file)))).toEqual([]);
  });

  it('ports hold contracts only: no executable line but frozen constants', () => {
    const wrong = sources
      .filter((file) => isIn(file, 'core/ports') || isIn(file, 'cluster/ports'))
      .filter((file) =>
        /^\s*(?:function|class|let|if|for|return)\b/m.test(textOf(file).replace(/\/\*[\s\S]*?\*\//g, '')),
      );
    expect(wrong).toEqual([]);
  });

  it('plugins know only incrawl/plugin, incrawl/bundled, packages, Node and their own folder', () => {
    const wrong = plugins.flatMap((file) => {
      const own = file.split('/').slice(0, 2).join('/');
      return imports
        .get(file)!
        .filter((name) => name.startsWith('src/') || (name.startsWith('plugins/') && !name.startsWith(`${own}/`)))
        .map((name) => `${file} -> ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('logs go through the log, and no type check is silenced', () => {
    const all = [...sources, ...plugins];
    expect(all.filter((file) => /\bconsole\.\w+\(/.test(textOf(file)))).toEqual([]);
    expect(all.filter((file) => /@ts-(?:ignore|expect-error|nocheck)|\bas any\b(?! \w)/.test(textOf(file)))).toEqual(
      [],
    );
  });

  it('URL.canParse is not used, since Node 20 answers it wrongly for non-ASCII hosts once it is optimised', () => {
    const code = (file: string): string => textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect([...sources, ...plugins].filter((file) => code(file).includes('canParse'))).toEqual([]);
  });

  it('every plugin says in a README what it does', () => {
    const folders = [...new Set(plugins.map((file) => file.split('/')[1]))];
    const documented = filesBelow('plugins').filter((file) => /^plugins\/[^/]+\/README\.md$/.test(file));
    expect(documented.map((file) => file.split('/')[1]).sort()).toEqual(folders.sort());
  });
});
