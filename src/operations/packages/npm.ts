import { spawn } from 'node:child_process';
import { CrawlError } from '../../domain/errors.ts';
import { type OptionalPackageId, optionalPackage } from '../../domain/optional-packages.ts';
import { npmFault } from './npm-fault.ts';

/**
 * Settings of npm that decide what is installed are given here, whatever the user has configured; registry, proxy,
 * credentials and cache stay the user's. One retry, which takes seconds: without a network npm by itself tries for ten
 * minutes.
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
export async function runNpm(folder: string, what: string, { isBare = false } = {}): Promise<void> {
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
 * Loads an installed package once in another process, which fails where it has no native part for this machine. Rejects
 * with `install-failed`.
 */
export async function tryInChild(folder: string, id: OptionalPackageId, version: string): Promise<void> {
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

/** Longest time of npm, which has time-outs of its own for each request, and of loading a package, ms. */
const INSTALL_LIMIT_MS = 15 * 60_000;
const TRY_LIMIT_MS = 60_000;

/** Runs a program, which is killed when it takes longer than `limitMs`. */
function ended(command: string, args: readonly string[], cwd: string, limitMs: number): Promise<Ended> {
  return new Promise((resolve) => {
    // On Windows npm is a script for the shell.
    const shell = process.platform === 'win32' && command === 'npm';
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], shell });
    const timer = setTimeout(() => {
      keep(`\nError: not done after ${limitMs / 1_000} s`);
      child.kill('SIGKILL');
      // A process that npm has started may hold the pipes open.
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
