import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { integrityOf, type NpmRegistry, packed, startNpmRegistry } from '../../site/npm-registry.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** incrawl as npm packs it, and a registry that has what it needs, all on this machine. */
export interface Packed {
  /** The archive that users install. */
  readonly archive: string;
  /** What is in it. */
  readonly content: string;
  readonly registry: NpmRegistry;
  /** An empty folder. */
  folder(name: string): string;
  /** Environment of a user with an own home folder, without anything of the npm that runs the tests. */
  env(more?: Readonly<Record<string, string>>): Record<string, string>;
  close(): Promise<void>;
}

/**
 * Packs incrawl. One thing is not as users get it, unless `isAsPublished`: the lock file of jieba has the digest of a
 * stand-in for that package, {@link STAND_IN}, since the archive of the real one is not on this machine.
 */
export async function packIncrawl(isAsPublished = false): Promise<Packed> {
  const root = mkdtempSync(join(tmpdir(), 'incrawl-packed-'));
  const registry = await startNpmRegistry();
  for (const folder of ownDependencies()) registry.add(folder);
  const standIn = writeStandIn(join(root, 'jieba'), STAND_IN.version);
  registry.add(standIn);
  const folder = (name: string): string => mkdtempSync(join(root, `${name}-`));
  const env = (more: Readonly<Record<string, string>> = {}): Record<string, string> => {
    const kept = Object.entries(process.env).filter(
      ([name]) => !/^(?:npm_|incrawl_|xdg_|node_path|node_options|vitest|.*_proxy$)/i.test(name),
    );
    return {
      ...(Object.fromEntries(kept) as Record<string, string>),
      // Scripts of npm put the programs of the clone on the PATH.
      PATH: (process.env.PATH ?? '')
        .split(delimiter)
        .filter((each) => !each.includes('node_modules'))
        .join(delimiter),
      HOME: folder('home'),
      npm_config_registry: registry.url,
      npm_config_cache: join(root, 'cache'),
      npm_config_userconfig: join(root, 'npmrc'),
      npm_config_update_notifier: 'false',
      ...more,
    };
  };
  writeFileSync(join(root, 'npmrc'), 'audit=false\nfund=false\nignore-scripts=true\n');
  must('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', root], ROOT, env());
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const packedHere = join(root, `incrawl-${version}.tgz`);
  must('tar', ['-xzf', packedHere, '-C', root], root);
  const content = join(root, 'package');
  if (!isAsPublished) pinTo(content, integrityOf(packed(standIn)));
  must('tar', ['-czf', packedHere, '-C', root, 'package'], root);
  return {
    archive: packedHere,
    content,
    registry,
    folder,
    env,
    async close() {
      await registry.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** Package that takes the place of jieba: each character is a word. */
export const STAND_IN = { id: 'jieba', name: '@node-rs/jieba', version: pinned() } as const;

function pinned(): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'optional-packages/jieba/package.json'), 'utf8'));
  return manifest.dependencies['@node-rs/jieba'];
}

export function writeStandIn(folder: string, version: string): string {
  mkdirSync(folder, { recursive: true });
  const manifest = { name: STAND_IN.name, version, main: 'index.js' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'index.js'), 'exports.Jieba = { withDict: () => ({ cut: (text) => [...text] }) };\n');
  writeFileSync(join(folder, 'dict.js'), 'exports.dict = new Uint8Array();\n');
  return folder;
}

function pinTo(content: string, integrity: string): void {
  const file = join(content, 'optional-packages/jieba/package-lock.json');
  if (!existsSync(file)) throw new Error(`${file} is not packed`);
  const dependencies = { [STAND_IN.name]: STAND_IN.version };
  const packages = {
    '': { dependencies },
    [`node_modules/${STAND_IN.name}`]: { version: STAND_IN.version, integrity },
  };
  writeFileSync(file, JSON.stringify({ name: 'incrawl-optional-jieba', lockfileVersion: 3, requires: true, packages }));
}

/** Folders of the packages that incrawl depends on, those of development left out. */
function ownDependencies(): string[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8'));
  return Object.entries(lock.packages as Record<string, { readonly dev?: boolean }>)
    .filter(([, { dev }]) => dev !== true)
    .map(([path]) => join(ROOT, path));
}

/** A clone after its build: what is packed, and what npm reads of it. Digests are those of another registry. */
export function writeClone({ content }: Packed, folder: string): void {
  cpSync(content, folder, { recursive: true });
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  for (const each of Object.values<{ integrity?: string }>(lock.packages)) delete each.integrity;
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  cpSync(join(ROOT, '.npmrc'), join(folder, '.npmrc'));
}

/** The unpacked archive, with the packages that `npm ci` installed elsewhere; {@link Packed.content} has its files. */
export function linkDependencies({ content }: Packed, nodeModules: string): void {
  symlinkSync(nodeModules, join(content, 'node_modules'));
}

export function start(command: string, cwd: string, env: Record<string, string>, detached = false): Started {
  const child = spawn('/bin/sh', ['-c', command], { cwd, env, detached, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (text: string): void => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const ended = new Promise<Ended>((resolved) => {
    child.on('close', (code) => resolved({ code, output }));
  });
  return { child, ended };
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Runs a command line of a user. */
export const sh = (command: string, cwd: string, env: Record<string, string>): Promise<Ended> =>
  start(command, cwd, env).ended;

function must(command: string, args: readonly string[], cwd: string, env = process.env as Record<string, string>) {
  const { status, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`);
}

/** Folder of the running Node, which is on the PATH of users. */
export const NODE_FOLDER = dirname(process.execPath);

/** The folder of programs of a machine that has Node and npm, and no git. */
export function programs(packed: Packed): string {
  const bin = packed.folder('bin');
  for (const name of ['node', 'npm', 'npx']) symlinkSync(join(NODE_FOLDER, name), join(bin, name));
  for (const name of ['sh', 'env']) {
    const program = ['/bin', '/usr/bin'].map((each) => join(each, name)).find(existsSync);
    if (program !== undefined) symlinkSync(program, join(bin, name));
  }
  return bin;
}
