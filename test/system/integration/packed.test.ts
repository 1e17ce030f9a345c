import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Packed, packIncrawl, programs, sh } from './installed.ts';

/** npm installs a hundred packages. */
const PATIENCE_MS = 300_000;
const ROOT = resolve(import.meta.dirname, '../../..');

let packed: Packed;
beforeAll(async () => {
  packed = await packIncrawl();
}, PATIENCE_MS);
afterAll(() => packed.close(), PATIENCE_MS);

interface Manifest {
  readonly name: string;
  readonly keywords?: readonly string[];
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}
const manifest = (): Manifest => JSON.parse(readFileSync(join(packed.content, 'package.json'), 'utf8'));
const filesIn = (): string[] =>
  readdirSync(packed.content, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(packed.content.length + 1));

describe('the archive that npm publishes', () => {
  it('has what users need, and neither tests nor maps to sources that are not in it', () => {
    const files = filesIn();
    expect(
      files.filter((file) => /\.test\.|\.map$|fixtures|^(?:src|test|bench|scripts)\/|\.env|\.npmrc/.test(file)),
    ).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining([
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'SECURITY.md',
        'conf/incrawl.yaml',
        'deploy/README.md',
      ]),
    );
    const { bin, exports, dependencies, scripts, ...more } = manifest();
    expect(more).toMatchObject({ name: 'incrawl', license: 'MIT', engines: { node: '>=20.18.1' }, type: 'module' });
    expect(more.keywords?.length).toBeGreaterThan(5);
    const targets = [...Object.values(bin), ...Object.values(exports).flatMap((each) => Object.values(each))];
    const named = Object.values(exports).every((each) => typeof each === 'string') ? [] : targets;
    for (const target of named.filter((each) => each.length > 1)) expect(files).toContain(target.replace('./', ''));
    expect(Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(Object.keys(scripts as object).filter((name) => /install$/.test(name))).toEqual([]);
  });

  it('has all files that its pages link to', () => {
    const files = new Set(filesIn());
    const pages = [...files].filter((file) => file.endsWith('.md') && !file.startsWith('docs/decisions/'));
    const missing = pages.flatMap((page) =>
      [
        ...readFileSync(join(packed.content, page), 'utf8')
          .replace(/^(```)[\s\S]*?^\1/gm, '')
          .matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g),
      ]
        .map(([, target]) => resolve('/', dirname(page), target!).slice(1))
        .filter((target) => !files.has(target) && !existsSync(join(packed.content, target)))
        .map((target) => `${page}: ${target}`),
    );
    // Pages for those who work on the program are in its repository alone.
    expect(missing.filter((each) => !/: (?:src|bench|test)\/|: CONTRIBUTING\.md$/.test(each))).toEqual([]);
  });

  it('names no machine, registry or person', () => {
    const text = readFileSync(join(packed.content, 'package.json'), 'utf8');
    expect(text).not.toMatch(/\/(?:home|work|root|tmp)\/|registry\.|localhost|@\w+\.\w+"/);
  });
});

describe('an empty folder, an empty home, no git', { timeout: PATIENCE_MS }, () => {
  it('npm install ARCHIVE, then npx incrawl demo', async () => {
    const [cwd, env] = [packed.folder('empty'), { ...packed.env(), PATH: programs(packed) }];
    const done = async (command: string): Promise<string> => {
      const { code, output } = await sh(command, cwd, env);
      expect(code, `${command}: ${output}`).toBe(0);
      return output;
    };
    expect((await sh('git --version', cwd, env)).code).toBe(127);
    await done(`npm install ${packed.archive}`);
    expect(await done('npx incrawl --version')).toBe(`${manifest().version}\n`);
    expect(await done('npx incrawl demo')).toContain('After the first visit:');
    const kept = ['node_modules', 'package-lock.json', 'package.json'];
    expect(readdirSync(cwd).sort()).toEqual(kept);
    mkdirSync(join(cwd, 'mine'));
    await done('npx incrawl init mine');
    expect(await done('cd mine && npx incrawl crawl --dry-run')).not.toContain('Error');
    await done(
      `node --input-type=module -e "import { definePlugin } from 'incrawl/plugin'; definePlugin({}.x ?? { name: 'parse-x', api: 1, setup: () => ({}) }); await import('incrawl')"`,
    );
  });
});

it('the manifest of the clone is the one that is packed', () => {
  expect(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))).toEqual(manifest());
});
