// core/packages/: optional packages, where they are looked for and how they are loaded; the files of modules.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { CrawlError } from '../domain/errors.ts';
import { fits, type OptionalPackageId, optionalPackage } from '../domain/optional-packages.ts';

/** Where optional packages are looked for, in this order. */
export interface PackagePlaces {
  /** Folder of this package: Node's resolution begins there. */
  readonly own: string;
  /** The working directory: that of a project which has the package installed. */
  readonly project: string;
  /** Where `incrawl packages install` puts them; `null`: the user has no home folder, and names none. */
  readonly folder: string | null;
}

/** Environment variable that names the folder of installed packages. */
export const FOLDER_VARIABLE = 'INCRAWL_PACKAGES';

const OWN_FOLDER: string = dirname(createRequire(import.meta.url).resolve('incrawl/package.json'));

export function packagePlaces(): PackagePlaces {
  return { own: OWN_FOLDER, project: process.cwd(), folder: packagesFolder(process.env) };
}

/**
 * The user's folder for data of programs (XDG Base Directory Specification), so that one installation serves every way
 * of starting this program, and no installation of another package removes it.
 */
export function packagesFolder(env: Readonly<Record<string, string | undefined>>): string | null {
  const { [FOLDER_VARIABLE]: named = '', XDG_DATA_HOME: data = '', LOCALAPPDATA: local = '' } = env;
  if (named !== '') return resolve(named);
  // As the specification says, a relative path is ignored.
  if (isAbsolute(data)) return join(data, 'incrawl', 'packages');
  if (process.platform === 'win32' && isAbsolute(local)) return join(local, 'incrawl', 'packages');
  const home = homeOf(env);
  return home === null ? null : join(home, '.local', 'share', 'incrawl', 'packages');
}

function homeOf({ HOME: named }: Readonly<Record<string, string | undefined>>): string | null {
  try {
    return named !== undefined && isAbsolute(named) ? named : homedir();
  } catch {
    // A user without an entry in the list of users, as containers have them.
    return null;
  }
}

/** Machines of different kinds may share a home folder; native packages do not run on each other's. */
export const platformFolder = (folder: string): string => join(folder, `${process.platform}-${process.arch}`);

/** Folder of the manifest and the lock file of an optional package: its version, and the digests of all its files. */
export const pinFolder = (id: OptionalPackageId): string => join(OWN_FOLDER, 'optional-packages', id);

/** The version that `incrawl packages install` installs. */
export function pinnedVersion(id: OptionalPackageId): string {
  const manifest = createRequire(import.meta.url)(join(pinFolder(id), 'package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return manifest.dependencies[optionalPackage(id).name] as string;
}

interface FoundPackage {
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

export interface LoadedPackage {
  /** `null` for a package of ES modules, which are imported from {@link root}. */
  readonly module: unknown;
  readonly version: string;
  /** Folder of the package. */
  readonly root: string;
  /** Another module of the package, by its path in it. */
  part(path: string): unknown;
}

/** Loads an optional package: `loadPackage` itself, or one that tests look at other places with. */
export type LoadPackage = (id: OptionalPackageId, what: string) => LoadedPackage;

/**
 * Loads an optional package from the first place whose copy fits and can be loaded. Throws
 * `CrawlError('package-missing')` with what was found and the command that installs it.
 * @param what needs the package, as the beginning of that sentence
 */
export function loadPackage(id: OptionalPackageId, what: string, places?: PackagePlaces): LoadedPackage {
  const { name } = optionalPackage(id);
  const found = places === undefined ? findPackage(id) : findPackage(id, places);
  const faults: string[] = [];
  for (const copy of found) {
    const tried = tryPackage(id, copy);
    if ('module' in tried) return tried;
    faults.push(tried.fault);
  }
  const how = `To install it: incrawl packages install ${id}`;
  const message =
    faults.length === 0
      ? `${what} needs the package ${name}, which is not installed. ${how}`
      : [`${what} needs the package ${name}, but`, ...faults, how].join('\n');
  throw new CrawlError('package-missing', message);
}

/** Loads one copy; `fault` says why it is of no use. */
export function tryPackage(id: OptionalPackageId, copy: FoundPackage): LoadedPackage | { readonly fault: string } {
  const { name, since, module } = optionalPackage(id);
  const { root, version, require } = copy;
  if (!fits(version, since)) {
    const major = since.split('.')[0];
    return { fault: `${root} has version ${version}; ${since} or a later ${major}.x is needed` };
  }
  try {
    const part = (path: string): unknown => require(`${name}/${path}`);
    // Nothing can be said of ES modules without a wait, but whether they are there.
    if (module !== undefined) require.resolve(`${name}/${module}`);
    return { module: module === undefined ? require(name) : null, version, root, part };
  } catch (error) {
    const reason = String(error instanceof Error ? error.message : error).split('\n')[0];
    return { fault: `${root} cannot be loaded: ${reason}` };
  }
}
