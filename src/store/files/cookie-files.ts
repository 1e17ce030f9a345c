// store/files/: what lies in files of the state directory, written so that a crash leaves whole records.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onFile, replaceFile } from './durable-file.ts';

/** Readable by the owner only: a session cookie logs in anybody who has it. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const SUFFIX = '.json';

interface StoredJar {
  /** The pattern of the entry. */
  readonly match: string;
  readonly jar: unknown;
}

/** The file of an entry of `hosts:`, in the folder `cookies` of a state directory. */
export function cookieFile(stateDir: string, match: string): { load(): string | null; save(text: string): void } {
  const folder = join(stateDir, 'cookies');
  const file = join(folder, `${createHash('sha256').update(match).digest('hex').slice(0, 32)}${SUFFIX}`);
  return {
    load() {
      const stored = readJar(file);
      return stored?.match === match ? JSON.stringify(stored.jar) : null;
    },
    save(text) {
      onFile(folder, () => mkdirSync(folder, { recursive: true, mode: FOLDER_MODE }));
      replaceFile(file, JSON.stringify({ match, jar: JSON.parse(text) } satisfies StoredJar), FILE_MODE);
    },
  };
}

/** All jars of a state directory, including those of entries that are no longer in the configuration. */
export function cookieFiles(stateDir: string): { readonly match: string; readonly text: string; remove(): void }[] {
  const folder = join(stateDir, 'cookies');
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  } catch {
    return [];
  }
  return names.sort().flatMap((name) => {
    const file = join(folder, name);
    const stored = readJar(file);
    if (stored === null) return [];
    return [{ match: stored.match, text: JSON.stringify(stored.jar), remove: () => rmSync(file, { force: true }) }];
  });
}

function readJar(file: string): StoredJar | null {
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as StoredJar | null;
    return typeof stored?.match === 'string' ? stored : null;
  } catch {
    return null;
  }
}
