import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandTree } from '../../src/cli/completion/command-tree.ts';

const reference = new URL('../../docs/reference/', import.meta.url);
const { referencePages } = (await import(new URL('../../scripts/reference-pages.mjs', import.meta.url).href)) as {
  referencePages(): Promise<Map<string, string>>;
};
const pages = await referencePages();

describe('docs/reference', () => {
  it('has a page for each reference, and no other', () => {
    expect(readdirSync(reference).sort()).toEqual([...pages.keys()].sort());
  });

  // A command, option, key, error or exit code that is undocumented, or documented and gone, shows here: npm run docs.
  it.each([...pages])('%s says what the program has', (name, text) => {
    expect(readFileSync(new URL(name, reference), 'utf8')).toBe(text);
  });
});

describe('README', () => {
  it('names every command', async () => {
    const { createProgram } = await import('../../src/cli/program.ts');
    const { stdout, stderr } = process;
    const tree = commandTree(createProgram({ argv: [], env: {}, stdin: () => process.stdin, stdout, stderr }).command);
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const missing = tree.children.map(({ name }) => name).filter((name) => !new RegExp(`\`${name}\\b`).test(readme));
    expect(missing).toEqual([]);
  });
});
