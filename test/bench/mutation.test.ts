import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type EqualMutant, judged, type Mutant } from '../../bench/mutation/judged.ts';
import { importersOf, judgesOf, piecesOf } from '../../bench/mutation/pieces.ts';

const root = resolve(import.meta.dirname, '../..');
const equal = JSON.parse(readFileSync(join(root, 'bench/mutation/equal-mutants.json'), 'utf8')) as EqualMutant[];

describe('counts of mutants', () => {
  const source = 'const a = 1;\n  if (a < 2) {\n    stop();\n  }\n';
  const mutant = (status: Mutant['status'], replacement: string): Mutant => ({
    mutatorName: 'EqualityOperator',
    replacement,
    status,
    location: { start: { line: 2, column: 7 }, end: { line: 2, column: 12 } },
  });
  const block: Mutant = {
    ...{ mutatorName: 'BlockStatement', replacement: '{}', status: 'NoCoverage' },
    location: { start: { line: 2, column: 14 }, end: { line: 4, column: 4 } },
  };
  const named = (replacement: string): EqualMutant => ({
    ...{ file: 'a.ts', mutator: 'EqualityOperator', line: 'if (a < 2) {', original: 'a < 2' },
    ...{ replacement, reason: '' },
  });
  const report = (...mutants: Mutant[]) => ({ files: { 'a.ts': { source, mutants } } });

  it('go by their end; those that break the run itself are none', () => {
    const mutants = [
      ...[
        mutant('Killed', 'a <= 2'),
        mutant('Killed', 'a > 2'),
        mutant('Timeout', 'true'),
        mutant('Survived', 'false'),
      ],
      ...[mutant('CompileError', ''), mutant('RuntimeError', ''), mutant('Ignored', ''), block],
    ];
    const { counts, score, alive, wronglyEqual } = judged('a.ts', report(...mutants), []);
    expect(counts).toEqual({ mutants: 5, killed: 2, timeout: 1, survived: 1, 'no coverage': 1, equal: 0 });
    expect(score).toBe(60);
    const unmet = { ...named('{}'), mutator: 'BlockStatement', original: '{\n    stop();\n  }' };
    expect(alive).toEqual([named('false'), unmet]);
    expect(wronglyEqual).toEqual([]);
  });

  it('leave those out that are listed as equal, unless a test kills them', () => {
    const mutants = report(mutant('Survived', 'a <= 2'), mutant('Killed', 'true'), mutant('Survived', 'false'));
    const listed = ['a <= 2', 'true'].map((replacement) => ({ ...named(replacement), reason: 'why' }));
    const { counts, score, alive, wronglyEqual } = judged('a.ts', mutants, listed);
    expect(counts).toEqual({ mutants: 3, killed: 1, timeout: 0, survived: 1, 'no coverage': 0, equal: 1 });
    expect(score).toBe(50);
    expect(alive).toEqual([named('false')]);
    expect(wronglyEqual).toEqual([named('true')]);
  });

  it('of a file without mutants are none, and it lacks nothing', () =>
    expect(judged('b.ts', report(), [])).toMatchObject({ counts: { mutants: 0 }, score: 100 }));
});

describe('pieces', () => {
  const pieces = piecesOf(root);

  it('have each file of the core and of pages once, and others by name', () => {
    const files = [...pieces.values()].flat();
    expect(new Set(files).size).toBe(files.length);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(pieces.get('settle')).toContain('src/core/domain/crawl/states/settle.ts');
    expect(pieces.get('src/core/domain/crawl/states')).not.toContain('src/core/domain/crawl/states/settle.ts');
    expect(pieces.get('src/page/text')).toContain('src/page/text/utf8.ts');
  });

  it('are judged by the tests that import them, and by the nearest ones beside their folder', () => {
    const importers = new Map([
      ['src/core/domain/a.ts', ['src/core/domain/b.ts', 'test/core/steps/a.test.ts', 'test/support/a.ts']],
      ['src/core/domain/b.ts', ['test/core/domain/b.test.ts', 'test/system/b.test.ts']],
      ['test/support/a.ts', ['test/core/domain/a.test.ts', 'test/cli/a.test.ts']],
      ['src/core/domain/c.ts', ['src/core/domain/d.ts', 'test/cli/c.test.ts']],
      ['src/core/domain/d.ts', ['test/core/steps/d.test.ts']],
      ['src/core/domain/e.ts', ['test/system/e.test.ts', 'src/cli/e.ts']],
      ['src/cli/e.ts', ['test/cli/e.test.ts']],
    ]);
    const judges = (name: string): string[] => judgesOf(`src/core/domain/${name}.ts`, importers);
    expect(judges('a')).toEqual([
      'test/core/domain/a.test.ts',
      'test/core/domain/b.test.ts',
      'test/core/steps/a.test.ts',
    ]);
    expect(judges('b')).toEqual(['test/core/domain/b.test.ts']);
    expect(judges('c')).toEqual(['test/cli/c.test.ts', 'test/core/steps/d.test.ts']);
    expect(judges('e')).toEqual(['test/cli/e.test.ts']);
    expect(judges('f')).toEqual([]);
  });

  it('that are judged by nothing are few', () => {
    const importers = importersOf(root);
    const files = [...pieces.values()].flat();
    const unjudged = files.filter((file) => judgesOf(file, importers).length === 0);
    expect(unjudged.length).toBeLessThan(files.length / 20);
    expect(judgesOf('src/core/domain/crawl/headers/ladder.ts', importers)).toEqual([
      'test/core/domain/crawl/audit-share.test.ts',
      'test/core/domain/crawl/ladder.test.ts',
      'test/core/steps/visit.test.ts',
    ]);
  });
});

it('mutants that are listed as equal are those of lines that stand there, each with a reason', () => {
  for (const { file, line, original, replacement, reason } of equal) {
    const text = readFileSync(join(root, file), 'utf8');
    expect(
      text.split('\n').map((each) => each.trim()),
      file,
    ).toContain(line);
    expect(text, file).toContain(original);
    expect(replacement, line).not.toBe(original);
    expect(reason, line).not.toBe('');
  }
});
