import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Below the root of the clone, from the sources and from what is built of them. */
const ROOT = import.meta.url.includes('/dist/') ? '../../../../..' : '../../../..';
const CORPUS = join(fileURLToPath(new URL(ROOT, import.meta.url)), 'test/corpus');

export interface CorpusFile {
  readonly name: string;
  readonly input: Buffer;
}

/** The inputs of a target, by name: each is tried in every run of the tests, and new inputs are made from them. */
export function corpusOf(target: string): CorpusFile[] {
  const folder = join(CORPUS, target);
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  return names.sort().map((name) => ({ name, input: readFileSync(join(folder, name)) }));
}

/** Adds a failing input, which is tried from then on. Its name is its digest; the path below the corpus. */
export function addToCorpus(target: string, input: Buffer): string {
  const folder = join(CORPUS, target);
  mkdirSync(folder, { recursive: true });
  const name = `found-${createHash('sha256').update(input).digest('hex').slice(0, 12)}`;
  writeFileSync(join(folder, name), input);
  return `${target}/${name}`;
}
