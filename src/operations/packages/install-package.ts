// operations/packages/: installing optional packages, and which are there.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../adapters/files/file-errors.ts';
import { ownFolder } from '../../adapters/files/locks/own-folder.ts';
import { CrawlError } from '../../domain/errors.ts';
import { type OptionalPackageId, optionalPackage } from '../../domain/optional-packages.ts';
import { findPackage, installFolder } from '../../packages/find-package.ts';
import { tryPackage } from '../../packages/load-package.ts';
import {
  FOLDER_VARIABLE,
  type PackagePlaces,
  packagePlaces,
  pinFolder,
  pinnedVersion,
  platformFolder,
} from '../../packages/package-places.ts';
import { makeFolder } from '../../plugin-host/make-folder.ts';
import { runNpm, tryInChild } from './npm.ts';

export interface PackageInstall {
  readonly id: OptionalPackageId;
  readonly name: string;
  readonly version: string;
  /** Of the package itself. */
  readonly folder: string;
  /** `present`: a copy that serves every working directory was there already. */
  readonly outcome: 'installed' | 'present';
}

/** What {@link installPackage} would do. Throws `install-failed` where it has no folder to install into. */
export function plannedInstall(id: OptionalPackageId, places: PackagePlaces = packagePlaces()): PackageInstall {
  const present = presentPackage(id, places);
  if (present !== null) return present;
  if (places.folder === null) throw new CrawlError('install-failed', `there is no home folder: ${NAME_FOLDER}`);
  const { name } = optionalPackage(id);
  const version = pinnedVersion(id);
  const folder = join(installFolder(places.folder, id, version), 'node_modules', name);
  return { id, name, version, folder, outcome: 'installed' };
}

/**
 * Installs the pinned version of an optional package by npm into the user's folder, unless this package or that folder
 * has a copy that can be loaded. It appears there as a whole: npm works in a folder beside it, what it made is loaded
 * once, and is then renamed. So installations at the same time do not mix, and one that is killed leaves nothing that
 * would be found. Rejects with `install-failed`; nothing has changed then.
 */
export async function installPackage(
  id: OptionalPackageId,
  places: PackagePlaces = packagePlaces(),
): Promise<PackageInstall> {
  const plan = plannedInstall(id, places);
  const { folder } = places;
  if (plan.outcome === 'present' || folder === null) return plan;
  const { name, version } = plan;
  const staging = await inFolder(folder, async () => {
    await makeFolder(platformFolder(folder));
    return ownFolder(platformFolder(folder), STAGING);
  });
  try {
    const made = join(staging, 'new');
    await inFolder(folder, () => {
      mkdirSync(made);
      for (const file of ['package.json', 'package-lock.json'])
        copyFileSync(join(pinFolder(id), file), join(made, file));
    });
    await runNpm(made, `${name}@${version}`, optionalPackage(id));
    await tryInChild(made, id, version);
    // Another process may have been faster.
    const faster = presentPackage(id, places);
    if (faster !== null) return faster;
    await inFolder(folder, () => publish(made, installFolder(folder, id, version)));
    return plan;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** A copy that can be loaded whatever the working directory is; `null`: none. */
function presentPackage(id: OptionalPackageId, places: PackagePlaces): PackageInstall | null {
  for (const copy of findPackage(id, places)) {
    if (copy.place === 'project' || 'fault' in tryPackage(id, copy)) continue;
    const { version, root } = copy;
    return { id, name: optionalPackage(id).name, version, folder: root, outcome: 'present' };
  }
  return null;
}

/** A copy that is there could not be loaded: it makes way. One that appears meanwhile is that of another process. */
function publish(made: string, target: string): void {
  if (existsSync(target)) renameSync(target, `${made}-old`);
  try {
    renameSync(made, target);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error))) throw error;
  }
}

/** Prefix of the folder in which npm works; remains of killed processes are recognised by it. */
const STAGING = '.installing';
const NAME_FOLDER = `name a folder for optional packages by ${FOLDER_VARIABLE}`;

async function inFolder<Result>(folder: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new CrawlError('disk-full', `no space left for ${folder}`, { cause: error });
    }
    const reason = REASONS[code] ?? String(error instanceof Error ? error.message : error);
    throw new CrawlError('install-failed', `${folder} cannot be written: ${reason}; ${NAME_FOLDER}`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of this path is not a folder',
  ENOENT: 'it cannot be created there',
  EEXIST: 'a part of this path is not a folder',
};
