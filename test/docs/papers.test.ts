import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../support/program.ts';
import { codeBlocks, missingLine } from './doc-blocks.ts';

const root = resolve(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const entriesBelow = (folder: string): { path: string; isFolder: boolean }[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true }).map((entry) => ({
    path: relative(root, join(entry.parentPath, entry.name)),
    isFolder: entry.isDirectory(),
  }));

const source = entriesBelow('src');
const papers = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'src/ARCHITECTURE.md',
  'bench/RESULTS.md',
  ...['docs', 'bench/results']
    .flatMap(entriesBelow)
    .map(({ path }) => path)
    .filter((path) => path.endsWith('.md')),
];

/** Texts in backticks, which are names and paths; code blocks left out. */
const namesIn = (file: string): string[] =>
  [
    ...textOf(file)
      .replace(/^```[\s\S]*?^```/gm, '')
      .matchAll(/`([^`\n]+)`/g),
  ].map(([, name]) => name!);

describe('README', () => {
  it('shows what the demo prints, up to figures: visits are spread by URLs, whose ports differ', async () => {
    const demo = codeBlocks(textOf('README.md')).find(({ text }) => text.startsWith('day '))!.text;
    const shown = demo.split('\n').map((line) => line.replace(/\d[\d.]*(?: -> \d[\d.]*)*/g, '...'));
    const { code, output } = await run(['demo'], { cwd: root });
    expect(missingLine(output, shown), output).toBeNull();
    expect(code).toBe(0);
  });

  it('has at most 110 lines', () => expect(textOf('README.md').split('\n').length - 1).toBeLessThanOrEqual(110));
});

describe('src/ARCHITECTURE.md', () => {
  it('has at most 120 lines', () =>
    expect(textOf('src/ARCHITECTURE.md').split('\n').length - 1).toBeLessThanOrEqual(120));

  it('has a row for every part of src, and no other', () => {
    const rows = [...textOf('src/ARCHITECTURE.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, part]) => part);
    const parts = source.filter(({ path, isFolder }) => isFolder && path.split('/').length === 2);
    expect(rows.sort()).toEqual(parts.map(({ path }) => basename(path)).sort());
  });

  it('names every folder of the core', () => {
    const text = textOf('src/ARCHITECTURE.md');
    const folders = source.filter(({ path, isFolder }) => isFolder && /^src\/core\/[^/]+$/.test(path));
    expect(folders.map(({ path }) => basename(path)).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('docs/decisions', () => {
  const pages = readdirSync(join(root, 'docs/decisions')).filter((name) => /^\d/.test(name));

  it('has an index that names every page by its title', () => {
    const index = textOf('docs/decisions/README.md').replaceAll('\n  ', ' ');
    const lineOf = (name: string): string => {
      const [number = '', ...title] = textOf(`docs/decisions/${name}`).split('\n')[0]!.slice(2).split(' ');
      return `- [${number}](${name}) ${title.join(' ')}\n`;
    };
    expect(pages.filter((name) => !index.includes(lineOf(name)))).toEqual([]);
  });

  it('has the pages that code and papers name', () => {
    const naming = ['src', 'plugins', 'docs', 'bench', 'scripts', 'test']
      .flatMap(entriesBelow)
      .filter(({ path, isFolder }) => !isFolder && /\.(?:ts|mjs|md)$/.test(path))
      .map(({ path }) => path);
    const missing = [...naming, 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].flatMap((file) =>
      [...textOf(file).matchAll(/decisions\/(\d{3}-[\w-]+\.md)|\bdecision (\d{3})\b/g)]
        .filter(([, page, number]) => !pages.some((name) => name === page || name.slice(0, 3) === number))
        .map(([named]) => `${file}: ${named}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('paths in the papers', () => {
  it.each(papers.filter((file) => file !== 'CHANGELOG.md'))('%s names files that are there', (file) => {
    const known = new Set([...source, ...entriesBelow('plugins')].flatMap(({ path }) => [path, basename(path)]));
    const missing = namesIn(file)
      .filter((name) => /^[\w./-]+\.(?:ts|mjs)$/.test(name))
      .filter((name) => !known.has(name) && !known.has(`src/${name}`) && !existsSync(join(root, name)));
    expect(missing).toEqual([]);
  });

  it.each(papers)('links of %s lead to files and headings', (file) => {
    const anchor = (heading: string): string =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-');
    const links = [
      ...textOf(file)
        .replace(/^```[\s\S]*?^```/gm, '')
        .matchAll(/\]\(([^)\s]+)\)/g),
    ].map(([, to]) => to!);
    const broken = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path = '', fragment] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(root, target))) return true;
      if (fragment === undefined || !target.endsWith('.md')) return false;
      return !textOf(target)
        .split('\n')
        .some((line) => line.startsWith('#') && anchor(line.replace(/^#+ /, '')) === fragment);
    });
    expect(broken).toEqual([]);
  });

  it.each(papers.filter((file) => !file.startsWith('docs/reference/')))('lines of %s end at column 120', (file) => {
    const prose = textOf(file).replace(/^```[\s\S]*?^```/gm, '');
    expect(prose.split('\n').filter((line) => line.length > 120 && !/^(?:\||!\[| {4})/.test(line))).toEqual([]);
  });
});
