import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Ended,
  linkDependencies,
  NODE_FOLDER,
  type Packed,
  packIncrawl,
  STAND_IN,
  sh,
  start,
  writeClone,
  writeStandIn,
} from './installed.ts';

/** npm installs a hundred packages in each of the first tests. */
const PATIENCE_MS = 300_000;

let packed: Packed;
beforeAll(async () => {
  packed = await packIncrawl();
}, PATIENCE_MS);
afterAll(() => packed.close(), PATIENCE_MS);

const NEEDS_JIEBA = `plugins test signature-simhash --options '{"segmenter": "jieba"}'`;

async function succeeds(command: string, cwd: string, env: Record<string, string>): Promise<string> {
  const { code, output } = await sh(command, cwd, env);
  expect(code, `${command}: ${output}`).toBe(0);
  return output;
}

/** The command that an error asks the user to type. */
function commandIn({ code, output }: Ended): string {
  expect(code, output).toBe(2);
  expect(output).toContain('needs the package @node-rs/jieba, which is not installed');
  return /To install it: (.+)$/m.exec(output)?.[1] ?? '';
}

/** A user runs incrawl, reads the error, types what stands there, and runs incrawl again. */
async function followError(program: string, cwd: string, env: Record<string, string>): Promise<string> {
  const command = commandIn(await sh(`${program} ${NEEDS_JIEBA}`, cwd, env));
  expect(await succeeds(command, cwd, env)).toContain(`installed @node-rs/jieba ${STAND_IN.version}`);
  expect(await succeeds(`${program} ${NEEDS_JIEBA}`, cwd, env)).toContain('meets the contract of its kind');
  return command;
}

describe('what the error of a missing package asks for installs it', { timeout: PATIENCE_MS }, () => {
  it('in a clone, where npm ci does not take it away', async () => {
    const [clone, env] = [packed.folder('clone'), packed.env()];
    writeClone(packed, clone);
    await succeeds('npm ci --omit=dev', clone, env);
    const program = 'node dist/src/cli/main.js';
    expect(await followError(program, clone, env)).toBe(`${program} packages install jieba`);
    await succeeds('npm ci --omit=dev', clone, env);
    await succeeds(`${program} ${NEEDS_JIEBA}`, clone, env);
    linkDependencies(packed, join(clone, 'node_modules'));
  });

  it('in a project that depends on incrawl', async () => {
    const [project, env] = [packed.folder('project'), packed.env()];
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    await succeeds(`npm install ${packed.archive}`, project, env);
    expect(await followError('npx incrawl', project, env)).toBe('npx incrawl packages install jieba');
  });

  it('with a global installation', async () => {
    const [cwd, prefix] = [packed.folder('anywhere'), packed.folder('global')];
    const { PATH, ...rest } = packed.env();
    const env = { ...rest, PATH: `${join(prefix, 'bin')}:${PATH}` };
    await succeeds(`npm install --global --prefix ${prefix} ${packed.archive}`, cwd, env);
    expect(await followError('incrawl', cwd, env)).toBe('incrawl packages install jieba');
  });

  it('with the archive run by npx', async () => {
    const [cwd, env] = [packed.folder('anywhere'), packed.env()];
    const command = await followError(`npx --yes --package=${packed.archive} incrawl`, cwd, env);
    expect(command).toMatch(/^node \/\S+\/node_modules\/incrawl\/dist\/src\/cli\/main\.js packages install jieba$/);
  });

  it('with the archive unpacked, and started from another folder', async () => {
    const program = `node ${join(packed.content, 'dist/src/cli/main.js')}`;
    expect(await followError(program, packed.folder('anywhere'), packed.env())).toBe(
      `${program} packages install jieba`,
    );
  });
});

describe('packages install', { timeout: PATIENCE_MS }, () => {
  const install = (): string => `node ${join(packed.content, 'dist/src/cli/main.js')} packages install jieba`;
  const list = (): string => `node ${join(packed.content, 'dist/src/cli/main.js')} packages --json`;
  /** Names in the folder of installed packages of this platform. */
  const installed = (folder: string): string[] => readdirSync(join(folder, `${process.platform}-${process.arch}`));
  const ONE = [`jieba@${STAND_IN.version}`];
  const place = (): { folder: string; cwd: string; env: Record<string, string> } => {
    const folder = join(packed.folder('own'), 'packages');
    return { folder, cwd: packed.folder('anywhere'), env: packed.env({ INCRAWL_PACKAGES: folder }) };
  };
  const jiebaIn = async (cwd: string, env: Record<string, string>) => {
    const all = JSON.parse(await succeeds(list(), cwd, env)) as {
      id: string;
      installed: { version: string; folder: string; place: string } | null;
      faults: string[];
    }[];
    return all.find(({ id }) => id === 'jieba')!;
  };
  const fails = async (env: Record<string, string>, expected: string): Promise<void> => {
    const { code, output } = await sh(install(), packed.folder('anywhere'), env);
    expect(output).toContain(expected);
    expect(output).not.toContain('This is a bug');
    expect(code).toBe(1);
  };

  it('several at once leave one whole package, and all succeed', async () => {
    const { folder, cwd, env } = place();
    const all = await Promise.all([1, 2, 3].map(() => sh(install(), cwd, env)));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(installed(folder)).toEqual(ONE);
    expect(await succeeds(install(), cwd, env)).toContain('is there already');
    expect((await jiebaIn(cwd, env)).installed).toMatchObject({ version: STAND_IN.version, place: 'folder' });
  });

  it('one that is killed leaves nothing that is found, and the next one clears up', async () => {
    const { folder, cwd, env } = place();
    const held = packed.registry.hold();
    const { child, ended } = start(install(), cwd, { ...env, npm_config_cache: packed.folder('cache') }, true);
    await held.asked;
    process.kill(-child.pid!, 'SIGKILL');
    await ended;
    held.release();
    expect(installed(folder)).toEqual([expect.stringMatching(/^\.installing-/)]);
    expect((await jiebaIn(cwd, env)).installed).toBeNull();
    await succeeds(install(), cwd, env);
    expect(installed(folder)).toEqual(ONE);
  });

  it('a copy that cannot be loaded is replaced', async () => {
    const { folder, cwd, env } = place();
    await succeeds(install(), cwd, env);
    const { installed: copy } = await jiebaIn(cwd, env);
    writeFileSync(join(copy!.folder, 'index.js'), 'throw new Error("torn");\n');
    expect((await jiebaIn(cwd, env)).faults).toEqual([`${copy!.folder} cannot be loaded: torn`]);
    await succeeds(install(), cwd, env);
    expect(installed(folder)).toEqual(ONE);
    expect((await jiebaIn(cwd, env)).faults).toEqual([]);
  });

  it('a dry run says what would be done, and changes nothing', async () => {
    const { folder, cwd, env } = place();
    expect(await succeeds(`${install()} --dry-run`, cwd, env)).toContain(`would install @node-rs/jieba`);
    expect(() => installed(folder)).toThrow('ENOENT');
  });

  it('a file that is not the one of the lock file is refused', async () => {
    const { folder, env } = place();
    const other = packed.folder('other');
    writeStandIn(other, STAND_IN.version);
    writeFileSync(join(other, 'more.js'), '');
    packed.registry.add(other);
    try {
      await fails({ ...env, npm_config_cache: packed.folder('cache') }, 'EINTEGRITY');
    } finally {
      rmSync(join(other, 'more.js'));
    }
    expect(installed(folder)).toEqual([]);
  });

  it('says that npm is missing, that there is no network, that the folder cannot be written', async () => {
    const { folder, cwd, env } = place();
    const without = { ...env, PATH: packed.folder('empty') };
    const program = install().replace(/^node/, join(NODE_FOLDER, 'node'));
    expect(await sh(program, cwd, without)).toMatchObject({
      code: 1,
      output: expect.stringContaining('npm was not found'),
    });
    const offline = { npm_config_offline: 'true', npm_config_cache: packed.folder('cache') };
    await fails({ ...env, ...offline }, 'npm is set to work offline, and its cache has not all files');
    const file = join(packed.folder('files'), 'file');
    writeFileSync(file, '');
    await fails(packed.env({ INCRAWL_PACKAGES: join(file, 'packages') }), 'cannot be written: a part of this path');
    expect(installed(folder)).toEqual([]);
  });

  it('a copy of the project is used if it fits; one that does not is named, and passed over', async () => {
    const { cwd, env } = place();
    const own = writeStandIn(join(cwd, 'node_modules/@node-rs/jieba'), '2.9.9');
    expect((await jiebaIn(cwd, env)).installed).toEqual({ version: '2.9.9', folder: own, place: 'project' });
    writeStandIn(own, '1.10.4');
    const program = `node ${join(packed.content, 'dist/src/cli/main.js')} ${NEEDS_JIEBA}`;
    const refused = await sh(program, cwd, env);
    expect(refused.output).toContain(`${own} has version 1.10.4; 2.0.1 or a later 2.x is needed`);
    expect(refused.output).toContain(`To install it: ${install()}`);
    await succeeds(install(), cwd, env);
    await succeeds(program, cwd, env);
    expect((await jiebaIn(cwd, env)).installed?.place).toBe('folder');
  });
});
