import fs, { type Dirent, type Stats } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';
import { DiskError, type Node, type SimulatedDisk } from './disk.ts';
import { type Fate, SimulatedCrash } from './fate.ts';

/** Paths below it lie on the simulated disk. */
export const SIMULATED_ROOT = '/simulated';
/** Descriptors from here on are those of the simulated disk. */
const FIRST_FD = 1_000_000;

interface OpenFile {
  readonly node: Node;
  readonly path: string;
  /** Writes go to the end. */
  readonly appends: boolean;
  position: number;
}

type Flags = string | number | undefined;
type Call = (...args: never[]) => unknown;

/**
 * Puts the file calls of `node:fs` and `node:fs/promises` that concern paths below {@link SIMULATED_ROOT} onto a
 * simulated disk; all others go to the system as before. The program under test is neither changed nor told of it:
 * `syncBuiltinESMExports` renews what it has imported by name.
 * @returns undoes it
 */
export function takeFileCalls(disk: SimulatedDisk, fate: Fate): () => void {
  const calls = new DiskCalls(disk, fate);
  const undo: (() => void)[] = [];
  const replace = (holder: object, name: string, own: Call): void => {
    const table = holder as Record<string, Call>;
    const system = table[name] as Call;
    table[name] = (...args: never[]) => (isOurs(args[0]) ? own(...args) : Reflect.apply(system, holder, args));
    undo.push(() => {
      table[name] = system;
    });
  };
  for (const [name, own] of Object.entries(calls.sync())) replace(fs, name, own);
  for (const [name, own] of Object.entries(calls.later())) replace(fs.promises, name, own);
  syncBuiltinESMExports();
  return () => {
    for (const each of undo) each();
    syncBuiltinESMExports();
  };
}

const isOurs = (first: unknown): boolean =>
  typeof first === 'number'
    ? first >= FIRST_FD
    : typeof first === 'string' && (first === SIMULATED_ROOT || first.startsWith(`${SIMULATED_ROOT}/`));

const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === 'string' ? Buffer.from(data) : data);

class DiskCalls {
  readonly #disk: SimulatedDisk;
  readonly #fate: Fate;
  readonly #open = new Map<number, OpenFile>();
  #fds = FIRST_FD;
  #temporary = 0;

  constructor(disk: SimulatedDisk, fate: Fate) {
    this.#disk = disk;
    this.#fate = fate;
  }

  sync(): Record<string, Call> {
    const disk = this.#disk;
    return {
      openSync: (path: string, flags: Flags) => this.open(path, flags),
      closeSync: (fd: number) => this.close(fd),
      writeSync: (fd: number, data: string | Uint8Array, from?: number, length?: number, position?: number | null) => {
        const bytes = bytesOf(data);
        if (typeof data === 'string') return this.write(fd, bytes, from ?? null);
        return this.write(fd, bytes.subarray(from ?? 0, (from ?? 0) + (length ?? bytes.length)), position ?? null);
      },
      writevSync: (fd: number, buffers: readonly Uint8Array[], position?: number) =>
        this.write(fd, Buffer.concat(buffers), position ?? null),
      readSync: (fd: number, into: Uint8Array, at: number, length: number, position: number) =>
        this.read(fd, into, at, length, position),
      fstatSync: (fd: number) => statsOf(this.#opened(fd).node),
      ftruncateSync: (fd: number, length: number) => this.truncate(fd, length),
      fsyncSync: (fd: number) => this.#syncFd(fd),
      fsync: (fd: number, done: (error: Error | null) => void) => {
        void this.#later(() => this.#syncFd(fd)).then(
          () => done(null),
          (error: Error) => done(error),
        );
      },
      readFileSync: (path: string, options?: unknown) => decoded(disk.file(path).content, options),
      writeFileSync: (path: string, data: string | Uint8Array, options?: { readonly flush?: boolean }) =>
        this.writeFile(path, data, options?.flush === true),
      existsSync: (path: string) => disk.find(path) !== undefined,
      statSync: (path: string, options?: { readonly bigint?: boolean; readonly throwIfNoEntry?: boolean }) =>
        this.stat(path, options),
      lstatSync: (path: string, options?: { readonly throwIfNoEntry?: boolean }) => this.stat(path, options),
      mkdirSync: (path: string, options?: { readonly recursive?: boolean }) => this.makeFolder(path, options),
      mkdtempSync: (prefix: string) => this.temporaryFolder(prefix),
      readdirSync: (path: string, options?: { readonly withFileTypes?: boolean }) => this.list(path, options),
      rmSync: (path: string, options?: { readonly recursive?: boolean; readonly force?: boolean }) =>
        this.remove(path, options),
      unlinkSync: (path: string) => disk.unlink(path),
      renameSync: (from: string, to: string) => disk.rename(from, to),
      linkSync: (from: string, to: string) => disk.link(from, to),
      utimesSync: (path: string) => disk.find(path) !== undefined,
      createReadStream: (path: string, options?: unknown) => this.stream(path, options),
    };
  }

  later(): Record<string, Call> {
    const { readFileSync, ...sync } = this.sync() as Record<string, (...args: unknown[]) => unknown>;
    const asked = (name: string) => [name, (...args: unknown[]) => this.#later(() => sync[`${name}Sync`]?.(...args))];
    const names = ['stat', 'lstat', 'mkdir', 'readdir', 'rm', 'unlink', 'rename', 'link', 'utimes'];
    return {
      ...Object.fromEntries(names.map(asked)),
      mkdtemp: (prefix: string) => this.#later(() => this.temporaryFolder(prefix)),
      readFile: (path: string, options?: unknown) => this.#later(() => readFileSync?.(path, options)),
      writeFile: (path: string, data: string | Uint8Array) => this.#later(() => this.writeFile(path, data, false)),
      appendFile: (path: string, data: string | Uint8Array) =>
        this.#later(() => {
          const fd = this.open(path, 'a');
          this.write(fd, bytesOf(data), null);
          this.close(fd);
        }),
      open: (path: string, flags: Flags) => this.#later(() => this.#handle(this.open(path, flags))),
    };
  }

  open(path: string, flags: Flags = 'r'): number {
    const { O_CREAT, O_TRUNC, O_EXCL, O_APPEND } = fs.constants;
    const bits = typeof flags === 'number' ? flags : (FLAGS[flags] ?? 0);
    let node = this.#disk.find(path);
    if (node !== undefined && (bits & O_EXCL) !== 0) throw new DiskError('EEXIST', path);
    if (node === undefined) {
      if ((bits & O_CREAT) === 0) throw new DiskError('ENOENT', path);
      node = this.#disk.create(path);
    } else if ((bits & O_TRUNC) !== 0) this.#disk.truncate(this.#disk.file(path), 0, path);
    const fd = this.#fds++;
    this.#open.set(fd, { node, path, appends: (bits & O_APPEND) !== 0, position: 0 });
    return fd;
  }

  close(fd: number): void {
    this.#open.delete(fd);
  }

  write(fd: number, bytes: Uint8Array, position: number | null): number {
    const file = this.#opened(fd);
    if (file.node.kind === 'folder') throw new DiskError('EISDIR', file.path);
    const at = file.appends ? file.node.content.length : (position ?? file.position);
    this.#disk.write(file.node, at, bytes, file.path);
    if (position === null) file.position = at + bytes.length;
    return bytes.length;
  }

  read(fd: number, into: Uint8Array, at: number, length: number, position: number | null): number {
    const file = this.#opened(fd);
    if (file.node.kind === 'folder') throw new DiskError('EISDIR', file.path);
    const from = position ?? file.position;
    const bytes = file.node.content.subarray(from, from + length);
    into.set(bytes, at);
    if (position === null) file.position = from + bytes.length;
    return bytes.length;
  }

  truncate(fd: number, length: number): void {
    const { node, path } = this.#opened(fd);
    if (node.kind === 'folder') throw new DiskError('EISDIR', path);
    this.#disk.truncate(node, length, path);
  }

  writeFile(path: string, data: string | Uint8Array, flush: boolean): void {
    const fd = this.open(path, 'w');
    this.write(fd, bytesOf(data), 0);
    if (flush) this.#syncFd(fd);
    this.close(fd);
  }

  stat(path: string, options: { readonly bigint?: boolean; readonly throwIfNoEntry?: boolean } = {}): unknown {
    const node = this.#disk.find(path);
    if (node !== undefined) return options.bigint === true ? bigStatsOf(node) : statsOf(node);
    if (options.throwIfNoEntry === false) return undefined;
    throw new DiskError('ENOENT', path);
  }

  /** Returns the first folder that was made, as `mkdir` does when it is recursive. */
  makeFolder(path: string, options?: { readonly recursive?: boolean }): string | undefined {
    if (options?.recursive !== true) {
      this.#disk.makeFolder(path);
      return undefined;
    }
    let first: string | undefined;
    const parts = path.split('/').filter((part) => part !== '');
    for (let depth = 1; depth <= parts.length; depth++) {
      const each = `/${parts.slice(0, depth).join('/')}`;
      if (this.#disk.find(each) !== undefined) continue;
      this.#disk.makeFolder(each);
      first ??= each;
    }
    return first;
  }

  temporaryFolder(prefix: string): string {
    const path = `${prefix}${String(this.#temporary++).padStart(6, '0')}`;
    this.#disk.makeFolder(path);
    return path;
  }

  list(path: string, options?: { readonly withFileTypes?: boolean }): string[] | Dirent[] {
    const names = [...this.#disk.folder(path).names].sort(([a], [b]) => (a < b ? -1 : 1));
    if (options?.withFileTypes !== true) return names.map(([name]) => name);
    return names.map(
      ([name, { kind }]) =>
        ({ name, parentPath: path, isFile: () => kind === 'file', isDirectory: () => kind === 'folder' }) as Dirent,
    );
  }

  remove(path: string, { recursive = false, force = false }: { recursive?: boolean; force?: boolean } = {}): void {
    const node = this.#disk.find(path);
    if (node === undefined) {
      if (force) return;
      throw new DiskError('ENOENT', path);
    }
    if (node.kind === 'folder') {
      if (!recursive) throw new DiskError('EISDIR', path);
      for (const name of [...node.names.keys()]) this.remove(`${path}/${name}`, { recursive, force });
    }
    this.#disk.unlink(path);
  }

  stream(path: string, options: unknown): Readable {
    const { start = 0, encoding } = typeof options === 'object' && options !== null ? (options as StreamOptions) : {};
    const { content } = this.#disk.file(path);
    const stream = Readable.from([Buffer.from(content.subarray(start))].filter(({ length }) => length > 0));
    return encoding === undefined ? stream : stream.setEncoding(encoding as BufferEncoding);
  }

  #handle(fd: number): object {
    return {
      fd,
      read: (into: Uint8Array, at: number, length: number, position: number | null) =>
        this.#later(() => {
          const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
          return { bytesRead: this.read(fd, bytes, at, length, position), buffer: into };
        }),
      write: (bytes: Uint8Array, from: number, length: number, position: number | null) =>
        this.#later(() => ({ bytesWritten: this.write(fd, bytes.subarray(from, from + length), position) })),
      stat: () => this.#later(() => statsOf(this.#opened(fd).node)),
      truncate: (length: number) => this.#later(() => this.truncate(fd, length)),
      sync: () => this.#later(() => this.#syncFd(fd)),
      close: () => this.#later(() => this.close(fd)),
    };
  }

  #opened(fd: number): OpenFile {
    if (this.#fate.isDown) throw new SimulatedCrash();
    const file = this.#open.get(fd);
    if (file === undefined) throw new DiskError('EBADF', String(fd));
    return file;
  }

  #syncFd(fd: number): void {
    const { node, path } = this.#opened(fd);
    this.#disk.sync(node, path);
  }

  /** Settles as the call does, a moment later; never where the process has ended. */
  async #later<Value>(call: () => Value): Promise<Value> {
    await Promise.resolve();
    if (this.#fate.isDown) return new Promise(() => {});
    try {
      return call();
    } catch (error) {
      if (error instanceof SimulatedCrash) return new Promise(() => {});
      throw error;
    }
  }
}

interface StreamOptions {
  readonly start?: number;
  readonly encoding?: BufferEncoding | undefined;
}

const { O_CREAT, O_TRUNC, O_EXCL, O_APPEND } = fs.constants;
const FLAGS: Readonly<Record<string, number>> = {
  r: 0,
  'r+': 0,
  w: O_CREAT | O_TRUNC,
  'w+': O_CREAT | O_TRUNC,
  wx: O_CREAT | O_EXCL,
  'wx+': O_CREAT | O_EXCL,
  a: O_CREAT | O_APPEND,
  'a+': O_CREAT | O_APPEND,
};

function decoded(content: Buffer, options: unknown): string | Buffer {
  const encoding =
    typeof options === 'string' ? (options as BufferEncoding) : (options as StreamOptions | undefined)?.encoding;
  return encoding === undefined ? Buffer.from(content) : content.toString(encoding);
}

function statsOf(node: Node): Stats {
  const size = node.kind === 'file' ? node.content.length : 0;
  const { kind, id: ino, mtimeMs } = node;
  return { size, ino, mtimeMs, isFile: () => kind === 'file', isDirectory: () => kind === 'folder' } as Stats;
}

function bigStatsOf(node: Node): object {
  const { size, ino, isFile, isDirectory } = statsOf(node);
  return { size: BigInt(size), ino: BigInt(ino), isFile, isDirectory };
}
