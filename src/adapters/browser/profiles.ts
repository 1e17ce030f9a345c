import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** How playwright-core names the folder of a browser's profile. */
const PROFILE = /^playwright_chromium\w*profile-\w+$/;

/**
 * Notes of the profiles of running browsers, in the state directory. A browser ends with the process that has started
 * it, whatever kills that process, since its pipe closes; its profile in the temporary folder stays behind, and is
 * removed by the next start that finds the note.
 */
export class ProfileNotes {
  readonly #folder: string;

  /** @param folder for the notes */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes the profiles of processes that have ended. */
  removeStale(): void {
    for (const name of namesIn(this.#folder)) {
      const pid = Number(/^(\d+)-/.exec(name)?.[1]);
      if (!Number.isInteger(pid) || isRunning(pid)) continue;
      const profile = textOf(join(this.#folder, name));
      void this.#remove(profile ?? '', join(this.#folder, name));
    }
  }

  /**
   * Notes the profile of a browser; what is returned removes both.
   * @param commandLine of the browser
   */
  async add(commandLine: readonly string[]): Promise<() => Promise<void>> {
    const flag = '--user-data-dir=';
    const profile = commandLine.find((each) => each.startsWith(flag))?.slice(flag.length) ?? '';
    await mkdir(this.#folder, { recursive: true });
    const note = join(this.#folder, `${process.pid}-${basename(profile)}`);
    writeFileSync(note, profile);
    return () => this.#remove(profile, note);
  }

  /** The note goes last: where the profile cannot be removed, the next start tries again. */
  async #remove(profile: string, note: string): Promise<void> {
    try {
      await removeProfile(profile);
      await rm(note, { force: true });
    } catch {
      // A process of the browser may still write to it.
    }
  }
}

/** Only what is named and placed as such a profile is: the note is a file that others may have written. */
async function removeProfile(profile: string): Promise<void> {
  if (!PROFILE.test(basename(profile)) || dirname(profile) !== tmpdir()) return;
  try {
    // Chromium keeps its socket in a folder of its own.
    const socket = dirname(readlinkSync(join(profile, 'SingletonSocket')));
    if (basename(socket).startsWith('org.chromium.Chromium.') && dirname(socket) === tmpdir()) {
      await rm(socket, { recursive: true, force: true });
    }
  } catch {
    // It had none, or it is gone.
  }
  await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
