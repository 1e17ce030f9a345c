import { CrawlError } from '../domain/errors.ts';
import { fits, type OptionalPackageId, optionalPackage } from '../domain/optional-packages.ts';
import { type FoundPackage, findPackage, type PackagePlaces } from './find-package.ts';

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
