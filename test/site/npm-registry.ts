import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join, relative } from 'node:path';

/** A registry of npm on loopback: it has the packages of folders, which it packs when they are asked for. */
export interface NpmRegistry {
  readonly url: string;
  /** Adds the package in a folder, in place of one of the same name and version. */
  add(folder: string): void;
  /** Archives are not sent until `release` is called; resolves when one has been asked for. */
  hold(): { readonly asked: Promise<void>; release(): void };
  close(): Promise<void>;
}

type Manifest = Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };

const FIELDS = ['name', 'version', 'bin', 'engines', 'os', 'cpu', 'libc'];
const DEPENDENCIES = ['dependencies', 'optionalDependencies', 'peerDependencies', 'peerDependenciesMeta'];

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** An archive as the registry has it; npm takes those that are not compressed as well. */
export function packed(folder: string): Buffer {
  const parent = dirname(folder);
  const args = ['-cf', '-', `--exclude=${basename(folder)}/node_modules`, '-C', parent, relative(parent, folder)];
  const { stdout, status } = spawnSync('tar', ['--mtime=@0', '--sort=name', ...args], { maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`tar of ${folder} ended with ${status}`);
  return stdout;
}

export const integrityOf = (archive: Buffer): string =>
  `sha512-${createHash('sha512').update(archive).digest('base64')}`;

export async function startNpmRegistry(): Promise<NpmRegistry> {
  const folders = new Map<string, Map<string, string>>();
  let gate: { readonly opened: Promise<void>; asked(): void } | null = null;
  const answer = async (path: string): Promise<Buffer | string | null> => {
    const [, name = '', version] = /^\/((?:@[^/]+\/)?[^/]+)(?:\/-\/(.+)\.tar)?$/.exec(path) ?? [];
    const versions = folders.get(name);
    if (versions === undefined) return null;
    if (version === undefined) return packument(name, versions);
    gate?.asked();
    await gate?.opened;
    const folder = versions.get(version);
    return folder === undefined ? null : packed(folder);
  };
  const packument = (name: string, versions: ReadonlyMap<string, string>): string => {
    const described = [...versions].map(([version, folder]) => {
      const manifest = manifestIn(folder);
      const kept = Object.entries(manifest).filter(([field]) => [...FIELDS, ...DEPENDENCIES].includes(field));
      const dist = { tarball: `${url}${name}/-/${version}.tar` };
      return [version, { ...Object.fromEntries(kept), dist }] as const;
    });
    const latest = described.at(-1)?.[0];
    return JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(described) });
  };
  const server = createServer((request, response) => {
    void answer(decodeURIComponent(request.url ?? '')).then((body) => {
      response.writeHead(body === null ? 404 : 200, {
        'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
      });
      response.end(body ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    add(folder) {
      const { name, version } = manifestIn(folder);
      const versions = folders.get(name) ?? new Map<string, string>();
      folders.set(name, versions.set(version, folder));
    },
    hold() {
      let release = (): void => {};
      let note = (): void => {};
      const asked = new Promise<void>((resolve) => {
        note = resolve;
      });
      const opened = new Promise<void>((resolve) => {
        release = resolve;
      });
      gate = { opened, asked: note };
      return {
        asked,
        release() {
          gate = null;
          release();
        },
      };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
