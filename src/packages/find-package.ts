// packages/: optional packages, where they are looked for and how they are loaded; the files of modules.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type OptionalPackageId, optionalPackage } from '../domain/optional-packages.ts';
import { type PackagePlaces, packagePlaces, pinnedVersion, platformFolder } from './package-places.ts';

export interface FoundPackage {
  readonly place: keyof PackagePlaces;
  /** Folder of the package itself. */
  readonly root: string;
  readonly version: string;
  /** Loads the package, or a part of it, from the place where it was found. */
  readonly require: NodeJS.Require;
}

/** The copies of a package that this process can reach, in the order in which they are tried. */
export function findPackage(id: OptionalPackageId, places: PackagePlaces = packagePlaces()): FoundPackage[] {
  const { name } = optionalPackage(id);
  const bases: (readonly [place: keyof PackagePlaces, base: string])[] = [
    ['own', places.own],
    ['project', places.project],
    ...installedVersions(id, places.folder).map((base) => ['folder', base] as const),
  ];
  const found: FoundPackage[] = [];
  for (const [place, base] of bases) {
    const copy = copyFrom(base, name);
    if (copy !== null && found.every(({ root }) => root !== copy.root)) found.push({ place, ...copy });
  }
  return found;
}

/** Where `incrawl packages install` puts a version of a package, below the folder of all. */
export const installFolder = (folder: string, id: OptionalPackageId, version: string): string =>
  join(platformFolder(folder), `${id}@${version}`);

/** Folders of the installed versions, the pinned one first: it is the one that is tested. */
function installedVersions(id: OptionalPackageId, folder: string | null): string[] {
  if (folder === null) return [];
  const pinned = installFolder(folder, id, pinnedVersion(id));
  const others = namesIn(platformFolder(folder))
    .filter((name) => name.startsWith(`${id}@`))
    .map((name) => join(platformFolder(folder), name))
    .filter((each) => each !== pinned);
  // Node's resolution would go on above a folder that has no such package.
  const { name } = optionalPackage(id);
  return [pinned, ...others].filter((each) => existsSync(join(each, 'node_modules', name, 'package.json')));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort().reverse();
  } catch {
    return [];
  }
}

function copyFrom(base: string, name: string): Omit<FoundPackage, 'place'> | null {
  const require = createRequire(join(base, 'package.json'));
  let folder: string;
  try {
    folder = dirname(require.resolve(name));
  } catch {
    return null;
  }
  for (; folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = manifestIn(folder);
    if (manifest?.name === name) return { root: folder, version: manifest.version ?? '', require };
  }
  return null;
}

function manifestIn(folder: string): { readonly name?: string; readonly version?: string } | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return null;
  }
}
