import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { fileError } from '../../store/files/durable-file.ts';

/** Files under way; what a killed run left is removed by the next one. */
const PARTIAL = '.incrawl-partial';

/** The files of a mirror, each replaced as a whole: whoever reads one sees the old file or the new one. */
export class MirrorFolder {
  readonly root: string;
  #written = 0;

  private constructor(root: string) {
    this.root = root;
  }

  static async open(folder: string): Promise<MirrorFolder> {
    const root = resolve(folder);
    await rm(join(root, PARTIAL), { recursive: true, force: true });
    await mkdir(join(root, PARTIAL), { recursive: true }).catch((error: unknown) => {
      throw fileError(root, error);
    });
    return new MirrorFolder(root);
  }

  /** Whether there is such a file. */
  async has(path: string): Promise<boolean> {
    return stat(this.#fileOf(path)).then(
      (found) => found.isFile(),
      () => false,
    );
  }

  /** Writes a file unless it is there with these bytes. Resolves with its SHA-256, and whether it was written. */
  async put(path: string, bytes: Uint8Array): Promise<{ readonly sha256: string; readonly isWritten: boolean }> {
    const file = this.#fileOf(path);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const known = await stat(file).catch(() => null);
    if (known?.size === bytes.length && known.isFile() && (await readFile(file)).equals(bytes))
      return { sha256, isWritten: false };
    const partial = join(this.root, PARTIAL, String(this.#written++));
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(partial, bytes);
      await rename(partial, file);
    } catch (error) {
      await rm(partial, { force: true });
      throw fileError(file, error);
    }
    return { sha256, isWritten: true };
  }

  /** Removes a file, and the folders that it leaves empty. */
  async remove(path: string): Promise<void> {
    const file = this.#fileOf(path);
    await rm(file, { force: true });
    for (let folder = dirname(file); folder !== this.root; folder = dirname(folder)) {
      try {
        await rmdir(folder);
      } catch {
        return;
      }
    }
  }

  async close(): Promise<void> {
    await rm(join(this.root, PARTIAL), { recursive: true, force: true });
  }

  #fileOf(path: string): string {
    const file = resolve(this.root, path);
    if (!file.startsWith(this.root + sep)) throw new TypeError(`${path} is outside of ${this.root}`);
    return file;
  }
}
