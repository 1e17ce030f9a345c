// Makes a checkout ready to run: installs packages and builds, each only when what it depends on has changed.
// Plain JavaScript without packages, since it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [major, minor, patch] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && (minor < 18 || (minor === 18 && patch < 1)))) {
  console.error(`incrawl needs Node >= 20.18.1, this is ${process.versions.node}`);
  process.exit(2);
}

const say = (text) => process.stderr.write(`${text}\n`);
/** Says that a step begins which takes a while, and is not needed at the next start; the answer says that it is done. */
const began = (what) => {
  const startedAt = performance.now();
  say(`incrawl: ${what}, once: up to a minute ...`);
  return () => say(`incrawl: ${what}: done in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
};
const hashOf = (files) => {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
};
const stampIs = (file, value) => existsSync(file) && readFileSync(file, 'utf8') === value;
const run = (command, args) => {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (result.error) say(String(result.error.message));
  if (result.status !== 0) process.exit(result.status ?? 1);
};
const filesBelow = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : statSync(join(root, path)).isFile() ? [path] : [];
    });

const installStamp = join(root, 'node_modules', '.incrawl-installed');
const installed = hashOf(['package-lock.json']);
if (!stampIs(installStamp, installed)) {
  const done = began('installing packages (npm ci)');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error']);
  done();
  writeFileSync(installStamp, installed);
}

const buildStamp = join(root, 'dist', '.incrawl-built');
const sources = [
  'src',
  'plugins',
  'bench',
  'test/system/torture',
  'test/simulation',
  'test/system/cluster/postgres',
  'test/system/cluster/s3',
]
  .flatMap(filesBelow)
  .filter((file) => !file.endsWith('.test.ts'));
const built = hashOf(['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', ...sources]);
if (process.argv.includes('--force-build') || !stampIs(buildStamp, built)) {
  const done = began('building (tsc)');
  const startedAt = Date.now();
  rmSync(buildStamp, { force: true });
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json']);
  // What pages load in a browser is shipped as it is.
  const assets = join('src', 'serve', 'assets');
  cpSync(join(root, assets), join(root, 'dist', assets), { recursive: true });
  // Over the old build: what runs from that meanwhile goes on. What has no source any more goes.
  for (const file of filesBelow('dist')) {
    if (statSync(join(root, file)).mtimeMs < startedAt - 2_000) rmSync(join(root, file));
  }
  writeFileSync(buildStamp, built);
  done();
}
