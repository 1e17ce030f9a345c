// cli/input/: seeds and lines from files and standard input.
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import type { BatchLines } from '../../crawler.ts';
import type { Session } from '../session.ts';
import { linesOf } from './line-reader.ts';

/**
 * Files of a batch as named on the command line: `-` is stdin, a folder stands for its files but those that Hadoop
 * hides, and names that end in `.gz` are gzip. Ends the command with a usage error where there is none.
 */
export function batchFiles(session: Session, words: readonly string[]): readonly BatchLines[] {
  return words.flatMap((word) => {
    if (word === '-') return { name: 'stdin', lines: linesOf(session.surroundings.stdin()) };
    const found = statSync(word, { throwIfNoEntry: false });
    if (found === undefined) return session.refuse(`no such file: ${word}`);
    const files = found.isDirectory() ? filesIn(word) : [word];
    if (files.length === 0) return session.refuse(`no files in the folder ${word}`);
    return files.map((file) => ({ name: file, lines: linesOfBatchFile(file) }));
  });
}

/** Lines of a file, gzip where its name ends so. It is opened when the first line is read. */
export async function* linesOfBatchFile(file: string): AsyncGenerator<string> {
  const bytes = createReadStream(file);
  if (!file.endsWith('.gz')) return yield* linesOf(bytes);
  const text = createGunzip();
  bytes.on('error', (error) => text.destroy(error)).pipe(text);
  try {
    yield* linesOf(text);
  } finally {
    bytes.destroy();
  }
}

/** Hadoop and its tools take no file whose name begins with an underscore or a dot. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^[._]/.test(entry.name))
    .map(({ name }) => join(folder, name))
    .sort();
