// operations/packages/: installing optional packages, and which are there.

import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import { OPTIONAL_PACKAGES, type OptionalPackageId, optionalPackage } from '../../core/domain/optional-packages.ts';
import {
  FOLDER_VARIABLE,
  findPackage,
  installFolder,
  type PackagePlaces,
  packagePlaces,
  pinFolder,
  pinnedVersion,
  platformFolder,
  tryPackage,
} from '../../core/packages/find-package.ts';
import { makeFolder } from '../../core/plugin-host/make-folder.ts';
import { errnoOf } from '../../store/files/durable-file.ts';
import { ownFolder } from '../../store/files/locks/folder-lock.ts';

/** What the error codes of npm mean for the installation of a package with a pinned version and known digests. */
const MEANINGS: readonly (readonly [codes: RegExp, meaning: string])[] = [
  [
    /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EIDLETIMEOUT)$/,
    'npm does not reach its registry. Try again with a network; "npm config set registry URL" names a mirror',
  ],
  [/^ENOTCACHED$/, 'npm is set to work offline, and its cache has not all files. Try again with a network'],
  [/^(?:E404|ETARGET|ENOVERSIONS)$/, 'the registry of npm does not have it, or not a package that it needs'],
  [
    /^(?:E401|E403|ENEEDAUTH)$/,
    'the registry of npm refuses to give it. Check "npm config get registry" and its login',
  ],
  [/^EINTEGRITY$/, 'a file of the registry is not the one with which incrawl was tested. Nothing was installed'],
  [/^EBADENGINE$/, `it does not run on Node ${process.versions.node}`],
  [/CERT|SIGNED/, 'the registry of npm has a certificate that is not trusted; "npm config set cafile FILE" names one'],
];

/** The fault of an npm that ended with an error: its meaning if that is known, otherwise its last lines. */
export function npmFault(output: string, exitCode: number | null, what: string): CrawlError {
  const lines = output.split('\n').flatMap((line) => /^npm (?:error|ERR!) (.*)/.exec(line)?.[1] ?? []);
  const code = lines.map((line) => /^code (\S+)$/.exec(line)?.[1]).find((each) => each !== undefined) ?? '';
  if (code === 'ENOSPC') return new CrawlError('disk-full', `no space left to install ${what}`);
  const meaning = MEANINGS.find(([codes]) => codes.test(code))?.[1];
  const words = lines.filter(
    (line) => !/^(?:\s|$|code |errno |syscall |A complete log |network (?:This|In) )/.test(line),
  );
  const detail = [code, ...words.slice(0, meaning === undefined ? 3 : 1)].filter((each) => each !== '').join(': ');
  const ending = detail === '' ? `npm ended with ${exitCode}` : `npm: ${detail}`;
  const text = meaning === undefined ? ending : `${meaning}. ${ending}`;
  return new CrawlError('install-failed', `${what} was not installed: ${text}`);
}

/**
 * Settings of npm that decide what is installed are given here, whatever the user has configured; registry, proxy,
 * credentials and cache remain the user's. There is one retry, which takes seconds: by default npm tries for ten
 * minutes when there is no network.
 */
const SETTINGS = [
  '--prefix=.',
  '--global=false',
  '--workspaces=false',
  '--dry-run=false',
  '--package-lock=true',
  '--package-lock-only=false',
  '--include=prod',
  '--ignore-scripts=true',
  '--audit=false',
  '--fund=false',
  '--progress=false',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
];

/**
 * Runs `npm install` in a folder with a manifest and a lock file. Rejects with `install-failed`, which says what to do.
 * @param what name and version of the package, for messages
 * @param options.isBare without optional dependencies
 */
async function runNpm(folder: string, what: string, { isBare = false } = {}): Promise<void> {
  const optional = isBare ? '--omit=optional' : '--include=optional';
  const { code, output, error } = await ended('npm', ['install', ...SETTINGS, optional], folder, INSTALL_LIMIT_MS);
  if (error !== null) {
    const reason = error.code === 'ENOENT' ? 'npm was not found' : `npm could not be started (${error.message})`;
    const how = 'It comes with Node: install it, or add its folder to the PATH';
    throw new CrawlError('install-failed', `${reason}, which installs ${what}. ${how}.`, { cause: error });
  }
  if (code !== 0) throw npmFault(output, code, what);
}

/**
 * Loads an installed package once in another process, which fails if the package has no native part for this machine.
 * Rejects with `install-failed`.
 */
async function tryInChild(folder: string, id: OptionalPackageId, version: string): Promise<void> {
  const { name, module } = optionalPackage(id);
  const [load, what] = module === undefined ? ['require', name] : ['import', `${name}/${module}`];
  const { code, output } = await ended(
    process.execPath,
    ['-e', `${load}(process.argv[1])`, what],
    folder,
    TRY_LIMIT_MS,
  );
  if (code === 0) return;
  const reason = /^\w*Error.*$/m.exec(output)?.[0] ?? output.trim().split('\n')[0] ?? '';
  const machine = `${process.platform}-${process.arch}, Node ${process.versions.node}`;
  throw new CrawlError('install-failed', `${name}@${version} cannot be loaded on ${machine}: ${reason}`);
}

interface Ended {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
  readonly error: NodeJS.ErrnoException | null;
}

/** Time limit for npm, which has its own time-outs per request, and for loading a package, ms. */
const INSTALL_LIMIT_MS = 15 * 60_000;
const TRY_LIMIT_MS = 60_000;

/** Runs a program, and kills it if it takes longer than `limitMs`. */
function ended(command: string, args: readonly string[], cwd: string, limitMs: number): Promise<Ended> {
  return new Promise((resolve) => {
    // On Windows npm is a script that needs the shell.
    const shell = process.platform === 'win32' && command === 'npm';
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], shell });
    const timer = setTimeout(() => {
      keep(`\nError: not done after ${limitMs / 1_000} s`);
      child.kill('SIGKILL');
      // A process started by npm may hold the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    }, limitMs);
    child.once('close', () => clearTimeout(timer));
    let output = '';
    const keep = (text: string): void => {
      output += text;
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.on('error', (error) => resolve({ code: null, output, error }));
    child.on('close', (code) => resolve({ code, output, error: null }));
  });
}

export interface PackageInstall {
  readonly id: OptionalPackageId;
  readonly name: string;
  readonly version: string;
  /** Folder of the package itself. */
  readonly folder: string;
  /** `present`: there was already a copy that serves every working directory. */
  readonly outcome: 'installed' | 'present';
}

/** What {@link installPackage} would do. Throws `install-failed` if there is no folder to install into. */
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
 * Installs the pinned version of an optional package with npm into the user's folder, unless this package or that
 * folder has a copy that can be loaded. The copy appears as a whole: npm works in a folder beside the target, its
 * result is loaded once, and is then renamed. So simultaneous installations do not mix, and one that is killed leaves
 * nothing that would be found. Rejects with `install-failed`, having changed nothing.
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
    // Another process may have installed it first.
    const faster = presentPackage(id, places);
    if (faster !== null) return faster;
    await inFolder(folder, () => publish(made, installFolder(folder, id, version)));
    return plan;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** A copy that can be loaded from every working directory; `null`: none. */
function presentPackage(id: OptionalPackageId, places: PackagePlaces): PackageInstall | null {
  for (const copy of findPackage(id, places)) {
    if (copy.place === 'project' || 'fault' in tryPackage(id, copy)) continue;
    const { version, root } = copy;
    return { id, name: optionalPackage(id).name, version, folder: root, outcome: 'present' };
  }
  return null;
}

/** An existing copy could not be loaded, so it is replaced. One that appears meanwhile comes from another process. */
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

export interface PackageView {
  readonly id: OptionalPackageId;
  readonly name: string;
  readonly purpose: string;
  /** The version that `incrawl packages install` installs. */
  readonly version: string;
  /** The copy in use; `null`: none can be used. */
  readonly installed: {
    readonly version: string;
    readonly folder: string;
    /** Where it was found: from this package, from the working directory, in the user's folder. */
    readonly place: keyof PackagePlaces;
  } | null;
  /** Copies with precedence that cannot be used, and why. */
  readonly faults: readonly string[];
}

/** Optional packages with the copies that this process would use. To find out, each one is loaded. */
export function packageViews(places: PackagePlaces = packagePlaces()): PackageView[] {
  return OPTIONAL_PACKAGES.map(({ id, name, purpose }) => {
    const faults: string[] = [];
    let installed: PackageView['installed'] = null;
    for (const copy of findPackage(id, places)) {
      const tried = tryPackage(id, copy);
      if ('fault' in tried) faults.push(tried.fault);
      else {
        installed = { version: copy.version, folder: copy.root, place: copy.place };
        break;
      }
    }
    return { id, name, purpose, version: pinnedVersion(id), installed, faults };
  });
}
