import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import ts from 'typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { docs, root } from '../../docs/doc-blocks.ts';
import { workDir } from '../../support/work-dir.ts';
import { startExampleSite } from '../docs/example-site.ts';

/** Output of a program in a folder of its own, beside which the package is installed. */
async function printedBy(program: string, cwd = programFolder()): Promise<string> {
  writeFileSync(join(cwd, 'program.mjs'), program);
  const child = spawn(process.execPath, ['program.mjs'], { cwd });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect([code, stderr], stdout).toEqual([0, '']);
  return stdout;
}

function programFolder(): string {
  const dir = workDir();
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(root, join(dir, 'node_modules', 'incrawl'), 'dir');
  symlinkSync(join(root, 'node_modules', '@types'), join(dir, 'node_modules', '@types'), 'dir');
  return dir;
}

const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  verbatimModuleSyntax: true,
};

/** Compiles a module; what does not hold by its types is an error. */
function compiled(source: string, dir: string): string {
  const file = join(dir, 'program.mts');
  writeFileSync(file, source);
  const program = ts.createProgram([file], { ...OPTIONS, noEmit: true });
  const faults = ts.getPreEmitDiagnostics(program).map(({ messageText, start, file: at }) => {
    const line = at === undefined || start === undefined ? 0 : at.getLineAndCharacterOfPosition(start).line;
    return `${source.split('\n')[line]}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(faults).toEqual([]);
  return ts.transpileModule(source, { compilerOptions: OPTIONS, fileName: file }).outputText;
}

/** Names that an entry of the package exports, types included. */
function namesOf(entry: string): string[] {
  const program = ts.createProgram([join(root, entry)], { ...OPTIONS, noEmit: true });
  const source = program.getSourceFile(join(root, entry))!;
  const checker = program.getTypeChecker();
  return checker.getExportsOfModule(checker.getSymbolAtLocation(source)!).map(({ name }) => name);
}

/** Programs on pages of the docs. */
const programsOf = (...pages: string[]): string[] =>
  docs
    .filter(({ name }) => pages.includes(name))
    .flatMap(({ blocks }) => blocks.filter(({ info }) => /^ts\b/.test(info)).map(({ text: program }) => program));

/** Name of the plugin that a program declares. */
const nameIn = (program: string): string => /definePlugin\(\{\s*name: '([a-z-]+)'/.exec(program)?.[1] ?? '';

/** Names of an entry that no program has. */
function withoutExample(entry: string, programs: readonly string[]): string[] {
  const named = new Set(programs.join('\n').match(/[A-Za-z]\w*/g));
  const names = namesOf(entry);
  expect(names.length).toBeGreaterThan(40);
  return names.filter((name) => !named.has(name));
}

describe('docs/library.md', () => {
  const blocks = programsOf('docs/library.md');

  it('has an example of each public name', () => {
    expect(withoutExample('dist/src/crawler/index.d.ts', blocks)).toEqual([]);
  });

  it('has programs that compile and run, one after the other', async () => {
    const site = await startExampleSite();
    onTestFinished(() => site.close());
    const dir = programFolder();
    const settings = ['http.allowAddresses=["127.0.0.1"]', 'fetch.delay=0', 'fetch.auditShare=0'];
    const source = blocks
      .join('\n')
      .replaceAll('https://example.org', site.origin)
      .replaceAll('log: console', 'log: { debug() {}, info() {}, warn: console.warn, error: console.error }')
      .replace("['agent.contact", `[${settings.map((each) => `'${each}'`).join(', ')}, 'agent.contact`);
    const printed = (await printedBy(compiled(source, dir), dir)).replaceAll(site.origin, 'https://example.org');
    for (const line of [
      /^1 \{/,
      /state: 'fetched'/,
      /^\d+ pages, stopped by nothing-due$/m,
      /^https:\/\/example\.org\/news\/2: next visit \d{4}-/m,
      /^admitted: true, allowed by robots\.txt: false$/m,
      /^\d+ modified https:\/\/example\.org\/news\/1$/m,
      /^[1-9]\d* bits in /m,
      /^5 are due now$/m,
      /^0 pages are read otherwise by the plugins of today$/m,
      /^[1-9]\d* documents, [1-9]\d* bytes$/m,
      /robots-denied/,
      /^https:\/\/example\.org\/b: admitted$/m,
      /^signature-simhash meets the contract of signature$/m,
      /^sound: true, 0 pages to fetch again, clock ahead by 0 ms$/m,
      /^crawl-missing$/m,
    ]) {
      expect(printed).toMatch(line);
    }
  });

  it('begins with a program that runs alone, and ends by itself', async () => {
    const site = await startExampleSite();
    onTestFinished(() => site.close());
    const program = blocks[0]!
      .replaceAll('https://example.org', site.origin)
      .replaceAll('log: console', 'log: { debug() {}, info() {}, warn: console.warn, error: console.error }')
      .replace("['agent.contact", `['http.allowAddresses=["127.0.0.1"]', 'fetch.delay=0', 'agent.contact`);
    expect(await printedBy(program)).toMatch(/^1 \{/);
  });
});

describe('docs/plugin-examples.md', () => {
  const plugins = programsOf('docs/plugin-examples.md').filter((program) => program.includes('export default'));

  it('has an example of each name of incrawl/plugin', () => {
    const programs = programsOf('docs/plugin-examples.md', 'docs/writing-a-plugin.md');
    expect(withoutExample('dist/src/core/plugin-host/api/plugin-api.d.ts', programs)).toEqual([]);
  });

  it('has a plugin of each kind', () => {
    const kinds = plugins.map((program) => nameIn(program).split('-')[0]!);
    expect(kinds.sort()).toEqual(
      ['exporter', 'exporter', 'parse', 'parsefilter', 'protocol', 'schedule', 'scoring', 'signature'].concat([
        'urlexemption',
        'urlfilter',
        'urlnormalizer',
      ]),
    );
  });

  it.each(plugins.map((program): [string, string] => [nameIn(program), program]))(
    '%s compiles, and meets the contract of its kind',
    async (_, program) => {
      const dir = programFolder();
      writeFileSync(join(dir, 'plugin.mjs'), compiled(program, dir));
      const test = `
        import { testPlugin } from 'incrawl/plugin-testing';
        import plugin from './plugin.mjs';
        await testPlugin(plugin, ${JSON.stringify({ place: join(dir, 'out'), bodies: ['Subject: A\nBy: B\n\nWe met.'] })});
        console.log(plugin.name);`;
      expect(await printedBy(test, dir)).toMatch(/^[a-z]+-[a-z-]+\n$/);
    },
  );
});

it('errors have a code', async () => {
  const printed = await printedBy(`
    import { CrawlError, openCrawler } from 'incrawl';
    import { defaultConfig } from 'incrawl/config';
    try { defaultConfig(['fetch.dellay=1s']); } catch (error) { console.log(error instanceof CrawlError, error.code); }
    console.log(typeof openCrawler, defaultConfig(['fetch.delay=2s']).fetch.delayMs);
  `);
  expect(printed).toBe('true config-invalid\nfunction 2000\n');
});
