import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const sources = filesBelow('src').filter((file) => file.endsWith('.ts'));
const plugins = filesBelow('plugins').filter((file) => file.endsWith('.ts'));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

function importsOf(file: string): string[] {
  const found = [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] as string);
  return found.map((name) => (name.startsWith('.') ? relative(root, resolve(root, dirname(file), name)) : name));
}

/** Rooms of the house, by the beginning of their files' paths; the first that fits is the file's room. */
const ROOMS = [
  ['crawler', ['src/crawler.ts', 'src/crawler/']],
  ['operations', ['src/operations/']],
  ['rows', ['src/adapters/rows/']],
  ['leveldb', ['src/adapters/leveldb/']],
  ['http', ['src/adapters/http/']],
  ['files', ['src/adapters/files/']],
  ['memory', ['src/adapters/memory/']],
  ['redis', ['src/adapters/redis/']],
  ['plugin-host', ['src/plugin-host/']],
  ['config', ['src/config/']],
  ['domain', ['src/domain/', 'src/schedules.ts']],
  ['ports', ['src/ports/']],
  ['steps', ['src/steps/']],
  ['demo', ['src/demo/']],
  ['cli', ['src/cli/']],
] as const;
type Room = (typeof ROOMS)[number][0];

const roomOf = (file: string): Room | undefined =>
  ROOMS.find(([, starts]) => starts.some((start) => file.startsWith(start)))?.[0];

/** What each room may import of the others; src/ARCHITECTURE.md says why. */
const ALLOWED: Record<Room, readonly Room[]> = {
  domain: [],
  ports: ['domain'],
  steps: ['domain', 'ports'],
  rows: ['ports', 'domain'],
  leveldb: ['rows', 'ports', 'domain'],
  http: ['ports', 'domain'],
  files: ['ports', 'domain'],
  memory: ['ports', 'domain'],
  redis: ['ports', 'domain'],
  'plugin-host': ['ports', 'domain'],
  config: ['domain'],
  demo: ['crawler', 'config', 'ports', 'domain'],
  cli: ['crawler', 'operations', 'config', 'domain', 'demo'],
  operations: [
    'crawler',
    'rows',
    'leveldb',
    'http',
    'files',
    'redis',
    'plugin-host',
    'config',
    'domain',
    'ports',
    'steps',
  ],
  crawler: [
    'operations',
    'rows',
    'leveldb',
    'http',
    'files',
    'memory',
    'redis',
    'plugin-host',
    'config',
    'domain',
    'ports',
    'steps',
  ],
};

describe('the house', () => {
  it('every source file has a room', () => {
    expect(sources.filter((file) => roomOf(file) === undefined)).toEqual([]);
  });

  it('imports go only where the table of rooms lets them', () => {
    const wrong = sources.flatMap((file) => {
      const room = roomOf(file) as Room;
      return importsOf(file).flatMap((target) => {
        if (!target.startsWith('src/')) return [];
        const other = roomOf(target) as Room;
        return other === room || ALLOWED[room].includes(other) ? [] : [`${file} -> ${target}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('the domain uses no package, no Node module, no clock, no randomness', () => {
    const domain = sources.filter((file) => file.startsWith('src/domain/'));
    const packages = domain.flatMap((file) =>
      importsOf(file)
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
      .filter((file) => file.startsWith('src/ports/'))
      .filter((file) =>
        /^\s*(?:function|class|let|if|for|return)\b/m.test(textOf(file).replace(/\/\*[\s\S]*?\*\//g, '')),
      );
    expect(wrong).toEqual([]);
  });

  it('plugins know only incrawl/plugin, packages, Node and their own folder', () => {
    const wrong = plugins.flatMap((file) => {
      const own = file.split('/').slice(0, 2).join('/');
      return importsOf(file)
        .filter((name) => name.startsWith('src/') || (name.startsWith('plugins/') && !name.startsWith(`${own}/`)))
        .map((name) => `${file} -> ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('nobody logs past the log, and no type check is silenced', () => {
    const all = [...sources, ...plugins];
    expect(all.filter((file) => /\bconsole\.\w+\(/.test(textOf(file)))).toEqual([]);
    expect(all.filter((file) => /@ts-(?:ignore|expect-error|nocheck)|\bas any\b(?! \w)/.test(textOf(file)))).toEqual(
      [],
    );
  });

  it('nobody asks URL.canParse, which Node 20 answers wrongly for hosts beyond ASCII once it is optimised', () => {
    const code = (file: string): string => textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect([...sources, ...plugins].filter((file) => code(file).includes('canParse'))).toEqual([]);
  });

  it('every plugin says in a README what it does', () => {
    const folders = [...new Set(plugins.map((file) => file.split('/')[1]))];
    const documented = filesBelow('plugins').filter((file) => /^plugins\/[^/]+\/README\.md$/.test(file));
    expect(documented.map((file) => file.split('/')[1]).sort()).toEqual(folders.sort());
  });
});
