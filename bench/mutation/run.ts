/**
 * `npm run mutate -- [--force] [--quiet] [FILE or piece ..]`: changes the sources a little at a time and counts which
 * changes the tests notice. Without names all pieces run, which takes hours; a file that was measured as it stands is
 * skipped, so that a run goes on where it stopped. `--force` measures it again, as new tests ask for; `--quiet` leaves
 * out the mutants that live on. `npm run bench:report` makes the page.
 *
 * Stryker needs 167 packages. They are therefore no devDependencies but have a manifest and a lock file of their own in
 * `scripts/mutation`, and are installed at the first run: `npm ci` of the project stays as light as it was. None has an
 * install script. The runner finds the vitest of the project, whose folder lies above its own.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadWord, occasionIn } from '../harness/occasion.ts';
import { type Figure, merged, readArea, writeArea } from '../harness/results.ts';
import { type EqualMutant, judged, type StrykerReport } from './judged.ts';
import { importersOf, judgesOf, piecesOf } from './pieces.ts';

const root = resolve('.');
const RESULTS = join(root, 'bench/results');
const TOOL = join(root, 'scripts/mutation');
const STRYKER = join(TOOL, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const REPORT = join(root, 'tmp/mutation.json');
const EQUAL = JSON.parse(readFileSync(join(root, 'bench/mutation/equal-mutants.json'), 'utf8')) as EqualMutant[];

/** What the page says of how figures came about. */
const ABOUT = [
  'A mutant is a small change of the source, as `<` for `<=`. It is killed where a test fails with it. The score is',
  'the part of mutants that were killed or ran into a time limit, of all but those that',
  '[change nothing](../mutation/equal-mutants.json). A file is judged by the tests that import it, and by the nearest',
  'ones of its own part: what only a crawl as a whole would show counts as alive.',
];

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const digestOf = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(join(root, file)))
    .digest('hex')
    .slice(0, 16);

const OPTIONS = {
  force: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
} as const;

main();

function main(): void {
  const { positionals: names, values } = words();
  const pieces = piecesOf(root);
  const chosen = chosenOf(pieces, names);
  if (chosen.size === 0)
    refuse(`${names.join(' ')}: expected files, folders or pieces: ${[...pieces.keys()].join(', ')}`);
  setPriority(10);
  if (!existsSync(STRYKER)) execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: TOOL, stdio: 'inherit' });
  const importers = importersOf(root);
  for (const [piece, files] of chosen) {
    for (const file of files) {
      const known = readArea(RESULTS, 'mutation').figures.find(({ metric }) => metric === file);
      if (!values.force && known?.contents === digestOf(file)) continue;
      const figure = figureOf(piece, file, judgesOf(file, importers), values.quiet);
      if (figure !== null) keep([figure], pieces);
    }
  }
  keep([], pieces);
}

/** The words of the command; ends the process where there is none of such a name. */
function words() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(2);
}

/** Pieces, or parts of them, by the names that were given: of a piece, of a file, or of a folder with its pieces. */
function chosenOf(pieces: ReadonlyMap<string, readonly string[]>, names: readonly string[]): Map<string, string[]> {
  const isChosen = (piece: string, file: string): boolean =>
    names.length === 0 || names.some((name) => name === piece || name === file || file.startsWith(`${name}/`));
  const chosen = [...pieces].map(
    ([piece, files]) => [piece, files.filter((file) => isChosen(piece, file))] as [string, string[]],
  );
  return new Map(chosen.filter(([, files]) => files.length > 0));
}

/** Runs the mutants of a file, and says which live on; `null`: they could not be run. */
function figureOf(piece: string, file: string, judges: readonly string[], isQuiet: boolean): Figure | null {
  const load = loadavg()[0] as number;
  const contents = digestOf(file);
  say(`${file}: judged by ${judges.join(', ')}`);
  rmSync(REPORT, { force: true });
  const { status } = spawnSync(
    process.execPath,
    [STRYKER, 'run', join(TOOL, 'stryker.config.json'), '--mutate', file],
    { cwd: root, stdio: 'inherit', env: { ...process.env, INCRAWL_MUTATION_TESTS: JSON.stringify(judges) } },
  );
  if (status !== 0 || !existsSync(REPORT)) {
    say(`${file}: not measured`);
    process.exitCode = 1;
    return null;
  }
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as StrykerReport;
  const { counts, score, alive, wronglyEqual } = judged(file, report, EQUAL);
  say(`${file}: ${score.toFixed(1)} %, ${JSON.stringify(counts)}`);
  if (!isQuiet) for (const mutant of alive) say(JSON.stringify(mutant));
  for (const mutant of wronglyEqual) {
    say(`is listed as equal, and was killed: ${JSON.stringify(mutant)}`);
    process.exitCode = 1;
  }
  return {
    question: piece,
    metric: file,
    value: Math.round(score * 10) / 10,
    unit: '%',
    command: `npm run mutate -- ${piece}`,
    ...occasionIn(root),
    load: loadWord(load),
    counts,
    contents,
  };
}

/** Puts figures into the area: those of files that are no more go, and what was not run is named. */
function keep(added: readonly Figure[], pieces: ReadonlyMap<string, readonly string[]>): void {
  const area = readArea(RESULTS, 'mutation');
  const figures = merged(area.figures, added).filter(({ question, metric }) => pieces.get(question)?.includes(metric));
  const run = new Set(figures.map(({ metric }) => metric));
  const missing = [...pieces].flatMap(([piece, own]) => {
    const count = own.filter((file) => !run.has(file)).length;
    return count === 0 ? [] : [`- ${piece}: ${count} of ${own.length} files`];
  });
  const about = missing.length === 0 ? ['All pieces were run.'] : ['Not run:', '', ...missing];
  writeArea(RESULTS, { ...area, figures, about: [...ABOUT, '', ...about] });
}
