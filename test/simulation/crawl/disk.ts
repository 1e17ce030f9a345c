import { dirname } from 'node:path';
import { seeded } from '../../../bench/harness/seeded.ts';
import { type Fate, SimulatedCrash } from './fate.ts';

interface FileWrite {
  readonly at: number;
  /** `null`: the file was cut to `at` bytes. */
  readonly bytes: Buffer | null;
}

interface FileNode {
  readonly kind: 'file';
  readonly id: number;
  content: Buffer;
  /** What a crash leaves at least, and the writes since then. */
  synced: Buffer;
  unsynced: FileWrite[];
  mtimeMs: number;
}

interface FolderNode {
  readonly kind: 'folder';
  readonly id: number;
  names: Map<string, Node>;
  syncedNames: Map<string, Node>;
  mtimeMs: number;
}

export type Node = FileNode | FolderNode;

/** Names of a folder that one call has changed: all of them reach the disk, or none. */
interface NameChange {
  readonly folder: FolderNode;
  readonly names: readonly (readonly [name: string, node: Node | null])[];
}

/** What a crash does with what was not synced. */
export type CrashKind =
  /** The process was killed: the system has all of it, and a later crash of the machine may still lose it. */
  | 'kill'
  /** The machine stopped; changes of names reach the disk in their order, as journaling file systems have it. */
  | 'power'
  /** As `power`; changes of names that were not synced reach the disk in any order, as POSIX allows. */
  | 'disorder';

export class DiskError extends Error {
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: ${path} (simulated disk)`);
    this.code = code;
  }
}

/** What a disk writes as a whole or not at all: sectors, or less where a memory loses power, bytes. */
const PIECES = [512, 64, 7];

/**
 * A disk in memory that knows what was synced. A crash leaves a state that POSIX allows: bytes of a file are durable
 * after its fsync, names after that of their folder; what was not synced is lost, torn, or there without what was
 * written before it.
 */
export class SimulatedDisk {
  readonly #fate: Fate;
  readonly #random: () => number;
  readonly #now: () => number;
  readonly #root: FolderNode;
  #ids = 0;
  #changes: NameChange[] = [];

  constructor(fate: Fate, random: () => number, now: () => number) {
    this.#fate = fate;
    this.#random = random;
    this.#now = now;
    this.#root = this.#newFolder();
  }

  find(path: string): Node | undefined {
    this.#requireUp();
    let node: Node | undefined = this.#root;
    for (const name of path.split('/').filter((part) => part !== '')) {
      if (node?.kind !== 'folder') return undefined;
      node = node.names.get(name);
    }
    return node;
  }

  file(path: string): FileNode {
    const node = this.find(path);
    if (node === undefined) throw new DiskError('ENOENT', path);
    if (node.kind !== 'file') throw new DiskError('EISDIR', path);
    return node;
  }

  folder(path: string): FolderNode {
    const node = this.find(path);
    if (node === undefined) throw new DiskError('ENOENT', path);
    if (node.kind !== 'folder') throw new DiskError('ENOTDIR', path);
    return node;
  }

  create(path: string): FileNode {
    const nothing = Buffer.alloc(0);
    const node: FileNode = {
      kind: 'file',
      id: this.#ids++,
      content: nothing,
      synced: nothing,
      unsynced: [],
      mtimeMs: this.#now(),
    };
    this.#rename(`create ${path}`, this.folder(dirname(path)), [[nameOf(path), node]]);
    return node;
  }

  makeFolder(path: string): void {
    const above = this.folder(dirname(path));
    if (above.names.has(nameOf(path))) throw new DiskError('EEXIST', path);
    this.#rename(`mkdir ${path}`, above, [[nameOf(path), this.#newFolder()]]);
  }

  /** Within a folder; the target is replaced. */
  rename(from: string, to: string): void {
    const node = this.find(from);
    if (node === undefined) throw new DiskError('ENOENT', from);
    if (dirname(from) !== dirname(to)) throw new DiskError('EXDEV', to);
    this.#rename(`rename ${from} to ${nameOf(to)}`, this.folder(dirname(from)), [
      [nameOf(from), null],
      [nameOf(to), node],
    ]);
  }

  link(from: string, to: string): void {
    const node = this.file(from);
    const folder = this.folder(dirname(to));
    if (folder.names.has(nameOf(to))) throw new DiskError('EEXIST', to);
    this.#rename(`link ${to}`, folder, [[nameOf(to), node]]);
  }

  /** A file, or a folder that is empty. */
  unlink(path: string): void {
    this.#rename(`unlink ${path}`, this.folder(dirname(path)), [[nameOf(path), null]]);
  }

  write(node: FileNode, at: number, bytes: Uint8Array, path: string): void {
    this.#requireUp();
    const isLast = this.#fate.isLast(`write ${bytes.length} at ${at} of ${path}`);
    const length = isLast ? Math.floor(this.#random() * (bytes.length + 1)) : bytes.length;
    this.#apply(node, { at, bytes: Buffer.from(bytes.subarray(0, length)) });
    if (isLast) throw new SimulatedCrash();
  }

  truncate(node: FileNode, length: number, path: string): void {
    this.#requireUp();
    if (node.content.length === length) return;
    const isLast = this.#fate.isLast(`truncate ${path} to ${length}`);
    if (!isLast || this.#random() < 0.5) this.#apply(node, { at: length, bytes: null });
    if (isLast) throw new SimulatedCrash();
  }

  /** Of a file its bytes, of a folder its names. */
  sync(node: Node, path: string): void {
    this.#requireUp();
    const isLast = this.#fate.isLast(`fsync ${path}`);
    if (!isLast || this.#random() < 0.5) {
      if (node.kind === 'file') {
        node.synced = Buffer.from(node.content);
        node.unsynced = [];
      } else {
        node.syncedNames = new Map(node.names);
        this.#changes = this.#changes.filter(({ folder }) => folder !== node);
      }
    }
    if (isLast) throw new SimulatedCrash();
  }

  /** What the next process finds. To be called after the crash, with the disk up again. */
  crash(kind: CrashKind): void {
    if (kind === 'kill') return;
    this.#keepNames(kind === 'power');
    // Each file has its own: the lengths of locks and reports differ from run to run, and must not change what follows.
    const luck = Math.floor(this.#random() * 2 ** 31);
    const seen = new Set<Node>();
    const settle = (node: Node): void => {
      if (seen.has(node)) return;
      seen.add(node);
      if (node.kind === 'folder') {
        node.names = new Map(node.syncedNames);
        for (const each of node.names.values()) settle(each);
      } else {
        node.content = contentAfterCrash(node, seeded(luck + node.id));
        node.synced = Buffer.from(node.content);
        node.unsynced = [];
      }
    };
    settle(this.#root);
    this.#changes = [];
  }

  /** Paths of all files, in order. */
  paths(): string[] {
    const found: string[] = [];
    const walk = (folder: FolderNode, path: string): void => {
      for (const [name, node] of folder.names) {
        if (node.kind === 'folder') walk(node, `${path}/${name}`);
        else found.push(`${path}/${name}`);
      }
    };
    walk(this.#root, '');
    return found.sort();
  }

  /** A folder that is there before the first process. */
  prepareFolder(path: string): void {
    let folder = this.#root;
    for (const name of path.split('/').filter((part) => part !== '')) {
      const next = this.#newFolder();
      folder.names.set(name, next);
      folder.syncedNames.set(name, next);
      folder = next;
    }
  }

  /** Puts a text in the place of a file's content, on disk at once: what the world does, not the process. */
  replaceContent(path: string, text: string): void {
    const node = this.file(path);
    node.content = Buffer.from(text);
    node.synced = Buffer.from(text);
    node.unsynced = [];
  }

  #keepNames(inOrder: boolean): void {
    const kept = inOrder ? this.#keptOf(this.#changes.length) : 0;
    for (const [i, { folder, names }] of this.#changes.entries()) {
      if (inOrder ? i >= kept : this.#random() < 0.5) continue;
      for (const [name, node] of names) {
        if (node === null) folder.syncedNames.delete(name);
        else folder.syncedNames.set(name, node);
      }
    }
  }

  /** So many of the oldest: systems write back all of it every few seconds. */
  #keptOf(changes: number): number {
    return this.#random() < 0.5 ? changes : Math.floor(this.#random() * (changes + 1));
  }

  #apply(node: FileNode, write: FileWrite): void {
    applyWrite(node, write);
    node.unsynced.push(write);
    node.mtimeMs = this.#now();
  }

  #rename(what: string, folder: FolderNode, names: NameChange['names']): void {
    const isLast = this.#fate.isLast(what);
    if (!isLast || this.#random() < 0.5) {
      for (const [name, node] of names) {
        if (node === null) folder.names.delete(name);
        else folder.names.set(name, node);
      }
      this.#changes.push({ folder, names });
    }
    if (isLast) throw new SimulatedCrash();
  }

  #newFolder(): FolderNode {
    const names = new Map<string, Node>();
    return { kind: 'folder', id: this.#ids++, names, syncedNames: new Map(names), mtimeMs: this.#now() };
  }

  #requireUp(): void {
    if (this.#fate.isDown) throw new SimulatedCrash();
  }
}

/**
 * Some of the writes that were not synced: none, all, the first ones, these with a file that has its new length all
 * the same, any sectors of any of them, or all sectors but one.
 */
function contentAfterCrash({ content, synced, unsynced }: FileNode, random: () => number): Buffer {
  if (unsynced.length === 0) return content;
  const way = random();
  if (way < 0.3) return content;
  const file = { content: Buffer.from(synced) };
  if (way < 0.4) return file.content;
  if (way < 0.8) {
    const whole = Math.floor(random() * (unsynced.length + 1));
    for (const write of unsynced.slice(0, whole)) applyWrite(file, write);
    const torn = unsynced[whole];
    if (torn?.bytes) applyWrite(file, { at: torn.at, bytes: torn.bytes.subarray(0, random() * torn.bytes.length) });
    const missing = content.length - file.content.length;
    // A length that the journal has, of blocks that were not written: zeros, or what the disk had there before.
    if (way >= 0.55 && missing > 0) file.content = Buffer.concat([file.content, unwritten(missing, random)]);
    return file.content;
  }
  const size = PIECES[Math.floor(random() * PIECES.length)] as number;
  const pieces = unsynced.flatMap((write) => piecesOf(write, size));
  const onlyLost = way < 0.9 ? null : Math.floor(random() * pieces.length);
  for (const [i, piece] of pieces.entries()) {
    const isLost = onlyLost === null ? random() < (piece.bytes === null ? 0.5 : 0.3) : i === onlyLost;
    if (!isLost) applyWrite(file, piece);
  }
  return file.content;
}

function piecesOf({ at, bytes }: FileWrite, size: number): FileWrite[] {
  if (bytes === null) return [{ at, bytes }];
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => ({
    at: at + i * size,
    bytes: bytes.subarray(i * size, (i + 1) * size),
  }));
}

function unwritten(length: number, random: () => number): Buffer {
  const bytes = Buffer.alloc(length);
  if (random() < 0.5) for (let i = 0; i < length; i++) bytes[i] = Math.floor(random() * 256);
  return bytes;
}

function applyWrite(file: { content: Buffer }, { at, bytes }: FileWrite): void {
  const { content } = file;
  if (bytes === null) {
    file.content = at <= content.length ? content.subarray(0, at) : Buffer.concat([content], at);
    return;
  }
  if (at === content.length) {
    file.content = Buffer.concat([content, bytes]);
    return;
  }
  const longer = Buffer.alloc(Math.max(content.length, at + bytes.length));
  content.copy(longer);
  bytes.copy(longer, at);
  file.content = longer;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
