import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandTree } from '../../src/cli/completion/command-tree.ts';
import { findKey } from '../../src/core/config/keys.ts';
import { SECTIONS } from '../../src/core/config/schema.ts';
import { kindOfPlugin } from '../../src/core/plugin-host/api/plugin-api.ts';
import { NO_STOPS } from '../support/program.ts';

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
  it.each([...pages])('%s is up to date with the program', (name, text) => {
    expect(readFileSync(new URL(name, reference), 'utf8')).toBe(text);
  });
});

describe('the plugin api', () => {
  const page = pages.get('plugin-api.md') ?? '';
  const headings = (mark: string): string[] =>
    [...page.matchAll(new RegExp(`^${mark} \`?([\\w-]+)`, 'gm'))].map(([, name = '']) => name);

  it('has the contract of each kind, member by member', () => {
    const kinds = headings('##').filter((name) => !['Kinds', 'Declarations', 'Library'].includes(name));
    expect(kinds.map((kind) => kindOfPlugin(`${kind}-x`))).toEqual(kinds);
    expect(kinds).toHaveLength(10);
    const members = headings('####');
    for (const member of ['exchange', 'normalize', 'admit', 'types', 'sign', 'onVisit', 'outlinkScore', 'open'])
      expect(members).toContain(member);
  });

  it('says of each member what it is for', () => {
    const parts = page.split(/^#### /m).slice(1);
    expect(parts.length).toBeGreaterThan(30);
    for (const part of parts) expect(part).toMatch(/^`\w+`\n\n```ts\n[^`]+\n```\n\n\S/);
  });

  it('declares the types that the contracts name', () => {
    const declared = new Set(headings('###'));
    for (const name of [
      'Page',
      'Exchange',
      'ExchangeRequest',
      'Outlink',
      'CrawlDatum',
      'ScheduleVisit',
      'ExportTarget',
    ])
      expect(declared).toContain(name);
  });
});

describe('defaults', () => {
  it('of durations carry their unit, since a bare number counts seconds', async () => {
    const { createProgram } = await import('../../src/cli/commands/all-commands.ts');
    const { stdout, stderr } = process;
    const tree = commandTree(
      (await createProgram({ argv: [], env: {}, stdin: () => process.stdin, stdout, stderr, stops: NO_STOPS })).command,
    );
    const bare = tree.children
      .flatMap(({ name, options }) => options.map((option) => ({ name, ...option })))
      .filter(({ flags, defaultText }) => /[<[]duration/.test(flags) && /^\d+$/.test(defaultText ?? ''))
      .map(({ name, flags, defaultText }) => `${name} ${flags}: ${defaultText}`);
    expect(bare).toEqual([]);
  });
});

describe('the docs', () => {
  it('name no configuration key that does not exist', () => {
    const docs = new URL('../../docs/', import.meta.url);
    const pages = [
      new URL('../../README.md', import.meta.url),
      ...readdirSync(docs)
        .filter((name) => name.endsWith('.md'))
        .map((name) => new URL(name, docs)),
    ];
    const unknown = pages.flatMap((page) =>
      readFileSync(page, 'utf8')
        .split('\n')
        // Keys of Nutch stand in the first column of its tables, in backticks, too.
        .map((line) => (page.pathname.endsWith('from-nutch.md') ? line.replace(/^\|[^|]*\|/, '') : line))
        .flatMap((line) => [...line.matchAll(/`([a-z]+\.[a-z][a-zA-Z]+)(?:[:=] ?[^`]*)?`/g)])
        .map(([, key]) => key!)
        .filter(
          (key) => !key.endsWith('.sock') && !key.endsWith('.yaml') && Object.hasOwn(SECTIONS, key.split('.')[0]!),
        )
        .filter((key) => findKey(key) === undefined)
        .map((key) => `${page.pathname.split('/').at(-1)}: ${key}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('the reference of commands', () => {
  it('names every command, and the README leads to it', async () => {
    const { createProgram } = await import('../../src/cli/commands/all-commands.ts');
    const { stdout, stderr } = process;
    const tree = commandTree(
      (await createProgram({ argv: [], env: {}, stdin: () => process.stdin, stdout, stderr, stops: NO_STOPS })).command,
    );
    const commands = readFileSync(new URL('commands.md', reference), 'utf8');
    const missing = tree.children
      .map(({ name }) => name)
      .filter((name) => !new RegExp(`^## incrawl ${name}\\b`, 'm').test(commands));
    expect(missing).toEqual([]);
    expect(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')).toContain('(docs/reference/commands.md)');
  });
});
