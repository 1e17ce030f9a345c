import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fits, OPTIONAL_PACKAGES } from '../../../src/core/domain/optional-packages.ts';
import {
  findPackage,
  installFolder,
  loadPackage,
  packagesFolder,
  pinnedVersion,
} from '../../../src/core/packages/find-package.ts';

const root = mkdtempSync(join(tmpdir(), 'incrawl-packages-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Puts a copy of ioredis into `node_modules` of a folder; what it exports says where it is from. */
function put(base: string, version: string, code = `module.exports = ${JSON.stringify(base)};`): string {
  const folder = join(base, 'node_modules/ioredis');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'ioredis', version, main: 'dist/main.js' }));
  mkdirSync(join(folder, 'dist'), { recursive: true });
  // Another manifest between the module and that of the package, as packages of two module systems have it.
  writeFileSync(join(folder, 'dist/package.json'), '{ "type": "commonjs" }');
  writeFileSync(join(folder, 'dist/main.js'), code);
  return folder;
}

let count = 0;
function places() {
  const own = join(root, `${count++}`);
  const [project, folder] = [join(own, 'project/deep'), join(own, 'data/packages')];
  mkdirSync(project, { recursive: true });
  return { own: join(own, 'own'), project, folder };
}
const versions = (at: ReturnType<typeof places>): string[] => findPackage('ioredis', at).map(({ version }) => version);

describe('findPackage', () => {
  it('looks from this package, from the working directory, then in the folder, where the pinned version is first', () => {
    const at = places();
    for (const version of ['5.12.0', '5.20.0', pinnedVersion('ioredis')]) {
      put(installFolder(at.folder, 'ioredis', version), version);
    }
    expect(versions(at)[0]).toBe('5.11.1');
    expect(versions(at).sort()).toEqual(['5.11.1', '5.12.0', '5.20.0']);
    put(join(at.project, '..'), '5.11.3');
    put(at.own, '5.11.2');
    expect(findPackage('ioredis', at).map(({ version, place }) => [version, place])).toEqual([
      ['5.11.2', 'own'],
      ['5.11.3', 'project'],
      ['5.11.1', 'folder'],
      expect.anything(),
      expect.anything(),
    ]);
  });

  it('names a copy once that is reached from several places, and none that lies above the folder', () => {
    const at = places();
    put(at.project, '5.11.1');
    expect(versions({ ...at, own: at.project })).toEqual(['5.11.1']);
    const above = places();
    put(join(above.folder, '..'), '5.11.9');
    mkdirSync(installFolder(above.folder, 'ioredis', '5.11.1'), { recursive: true });
    expect(versions(above)).toEqual([]);
    expect(versions({ ...above, folder: join(above.own, 'file') })).toEqual([]);
  });
});

describe('loadPackage', () => {
  const load = (at: ReturnType<typeof places>) => loadPackage('ioredis', 'This', at);

  it('takes the first copy that fits and can be loaded', () => {
    const at = places();
    const installed = installFolder(at.folder, 'ioredis', '5.11.1');
    put(at.own, '5.11.1', 'require("a-part-for-another-platform")');
    put(at.project, '4.99.0');
    put(installed, '5.11.1');
    expect(load(at)).toMatchObject({ module: installed, version: '5.11.1' });
  });

  it('names each copy that is of no use, why, and the command that installs it', () => {
    const at = places();
    const own = put(at.own, '5.11.1', 'throw new Error("no part for this platform\\nstack")');
    const project = put(at.project, '4.99.0');
    expect(() => load(at)).toThrow(
      expect.objectContaining({
        code: 'package-missing',
        message: [
          'This needs the package ioredis, but',
          `${own} cannot be loaded: no part for this platform`,
          `${project} has version 4.99.0; 5.4.0 or a later 5.x is needed`,
          'To install it: incrawl packages install ioredis',
        ].join('\n'),
      }),
    );
  });
});

describe('fits', () => {
  it.each([
    ['1.5.6-r.1', '1.5.0', true],
    ['1.5.0-r.1', '1.5.0', true],
    ['1.4.9-r.3', '1.5.0', false],
    ['2.0.0', '1.5.0', false],
    ['6.10.0', '6.7.0', true],
    ['6.7.0+build', '6.7.0', true],
    ['6.6.99', '6.7.0', false],
    ['', '6.7.0', false],
    ['workspace', '6.7.0', false],
  ])('%j, since %s: %s', (version, since, expected) => expect(fits(version, since)).toBe(expected));
});

describe('packagesFolder', () => {
  it('is the one that is named, else in the data folder of the user', () => {
    const env = { HOME: '/home/u', XDG_DATA_HOME: '/data' };
    expect(packagesFolder({ ...env, INCRAWL_PACKAGES: '/opt/p' })).toBe('/opt/p');
    expect(packagesFolder({ ...env, INCRAWL_PACKAGES: 'p' })).toBe(resolve('p'));
    expect(packagesFolder({ ...env, INCRAWL_PACKAGES: '' })).toBe('/data/incrawl/packages');
    for (const data of ['relative', '', undefined]) {
      const folder = packagesFolder({ HOME: '/home/u', ...(data === undefined ? {} : { XDG_DATA_HOME: data }) });
      expect(folder).toBe('/home/u/.local/share/incrawl/packages');
    }
  });
});

describe('optional-packages', () => {
  const folder = resolve(import.meta.dirname, '../../../optional-packages');

  it.each(OPTIONAL_PACKAGES)('$id: one exact version that fits, with digests and without a registry', (each) => {
    const version = pinnedVersion(each.id);
    expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
    expect(fits(version, each.since)).toBe(true);
    const text = readFileSync(join(folder, each.id, 'package-lock.json'), 'utf8');
    expect(text).not.toContain('"resolved"');
    const { '': own, ...packages } = JSON.parse(text).packages as Record<string, Record<string, unknown>>;
    expect(own).toMatchObject({ dependencies: { [each.name]: version } });
    expect(packages[`node_modules/${each.name}`]?.version).toBe(version);
    for (const [name, { integrity }] of Object.entries(packages)) expect(integrity, name).toMatch(/^sha512-/);
  });

  it('the version of ioredis is the one that comes with incrawl', () => {
    const manifest = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8'));
    expect(manifest.optionalDependencies.ioredis).toBe(pinnedVersion('ioredis'));
    expect(manifest.files).toContain('optional-packages');
    expect(existsSync(join(folder, 'ioredis/package.json'))).toBe(true);
  });
});
