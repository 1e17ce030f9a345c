/** What is mutated at a time, and which tests judge it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';

/** Pieces that are not one folder of `src/core` or `src/page`: files and folders, by name. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  settle: [
    'src/core/domain/crawl/states/settle.ts',
    'src/core/domain/crawl/states/settle-answer.ts',
    'src/core/domain/crawl/states/settle-absence.ts',
  ],
  ladder: ['src/core/domain/crawl/headers/ladder.ts'],
  schedules: ['src/core/domain/crawl/schedules', 'src/core/domain/crawl/revisit', 'src/core/schedules.ts'],
  lanes: ['src/http/lanes'],
  codecs: ['src/store/rows/codecs', 'src/cluster/postgres/key-code.ts', 'src/cluster/postgres/bytea-array.ts'],
  robots: ['src/http/robots', 'src/core/steps/fetch/robots-turn.ts', 'src/page/links/robots-directives.ts'],
};
/** Parts whose folders are pieces by their paths, as far as no named piece has their files. */
const WHOLE_PARTS = ['src/core', 'src/page'];
/** Tests of a process, and of a server that must be installed, judge nothing here. */
const NOT_JUDGES = ['test/system/', 'test/simulation/'];
/** How many imports lie at most between a test and what it judges. */
const MAX_DISTANCE = 4;

/** Files of TypeScript below a folder, by their paths from the root. */
export const filesBelow = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();

/** All pieces in the order in which they run, each with its files. */
export function piecesOf(root: string): Map<string, string[]> {
  const pieces = new Map<string, string[]>();
  for (const [name, paths] of Object.entries(NAMED)) {
    pieces.set(
      name,
      paths.flatMap((path) => (path.endsWith('.ts') ? [path] : filesBelow(root, path))),
    );
  }
  const named = new Set([...pieces.values()].flat());
  for (const file of WHOLE_PARTS.flatMap((part) => filesBelow(root, part))) {
    if (named.has(file)) continue;
    const folder = dirname(file);
    pieces.set(folder, [...(pieces.get(folder) ?? []), file]);
  }
  return pieces;
}

/** Files of the project, each with those that import it. */
export function importersOf(root: string): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const file of ['src', 'test', 'plugins'].flatMap((folder) => filesBelow(root, folder))) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, path] of text.matchAll(/(?:\bfrom |\bimport\(?)\s*'(\.[^']+\.ts)'/g)) {
      const target = posix.join(posix.dirname(file), path as string);
      importers.set(target, [...(importers.get(target) ?? []), file]);
    }
  }
  return importers;
}

/**
 * The tests that judge a file: those that import it, and those beside its folder (`test/core/domain` for
 * `src/core/domain/..`) that are nearest to it: import it, or an importer of it, and so on. Where that folder has none,
 * those of its part, then any. So a file answers for itself: that a crawl as a whole would show a fault of it does not
 * count.
 */
export function judgesOf(file: string, importers: ReadonlyMap<string, readonly string[]>): string[] {
  const layers = testsByDistance(file, importers);
  const [, part, folder] = file.split('/');
  const nearest = [`test/${part}/${folder}/`, `test/${part}/`, 'test/', 'plugins/']
    .map((own) => layers.map((tests) => tests.filter((test) => test.startsWith(own))).find(({ length }) => length > 0))
    .find((tests) => tests !== undefined);
  return [...new Set([...(layers[0] ?? []), ...(nearest ?? [])])].sort();
}

/** Tests that import a file, those that import its importers, and so on. */
function testsByDistance(file: string, importers: ReadonlyMap<string, readonly string[]>): string[][] {
  const layers: string[][] = [];
  const seen = new Set([file]);
  let layer = [file];
  while (layers.length < MAX_DISTANCE) {
    const next = [...new Set(layer.flatMap((each) => importers.get(each) ?? []))].filter((each) => !seen.has(each));
    for (const each of next) seen.add(each);
    const tests = next.filter((each) => each.endsWith('.test.ts'));
    layers.push(tests.filter((test) => !NOT_JUDGES.some((folder) => test.startsWith(folder))));
    layer = next.filter((each) => !each.endsWith('.test.ts'));
  }
  return layers;
}
