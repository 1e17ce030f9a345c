// cli/input/: seeds and lines from files and standard input.

import { createReadStream, readdirSync, statSync } from 'node:fs';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { CrawlError } from '../../core/domain/errors.ts';
import { trimUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { SeedSource } from '../../crawler/index.ts';
import type { BatchLines } from '../../crawler/views.ts';
import type { Session } from '../session.ts';

/**
 * Lines of UTF-8 text. Only `\n` and `\r\n` end a line: `node:readline` also breaks at U+2028 and U+2029, which are
 * allowed inside a JSON string. A byte order mark is dropped.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let first = true;
  for await (const chunk of chunks) {
    let text = typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk));
    if (first && text !== '') {
      if (text.startsWith('\ufeff')) text = text.slice(1);
      first = false;
    }
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield withoutReturn(line);
  }
  rest += decoder.end();
  if (rest !== '') yield withoutReturn(rest);
}

/**
 * Like {@link linesOf}, for a file that is opened when the first line is read: a file error rejects that read, and a
 * file that is never read raises none.
 */
export async function* linesOfFile(file: string): AsyncGenerator<string> {
  yield* linesOf(createReadStream(file));
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

/**
 * URLs of a list with one on each line, or of CSV (RFC 4180) whose header names a column `url`, as
 * `readdb --format csv` prints it. Throws `usage-invalid` for CSV without that column, or with a quote left open.
 */
export async function* listedUrls(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let column: number | null = null;
  let isFirst = true;
  for await (const row of rowsOf(lines, () => column !== null)) {
    if (isFirst) {
      isFirst = false;
      column = urlColumn(row);
      if (column !== null) continue;
    }
    const url = (column === null ? row : (cellsOf(row)[column] ?? '')).trim();
    if (url !== '') yield url;
  }
}

/** Lines that are not blank; in CSV, the lines of a quoted cell form one row. */
async function* rowsOf(lines: AsyncIterable<string>, isCsv: () => boolean): AsyncGenerator<string> {
  let row = '';
  let isOpen = false;
  for await (const line of lines) {
    row = isOpen ? `${row}\n${line}` : line;
    if (isCsv()) isOpen = isOpen !== hasOddQuotes(line);
    if (!isOpen && row.trim() !== '') yield row;
  }
  if (isOpen) throw new CrawlError('usage-invalid', `CSV on stdin: a quote is not closed in "${row.slice(0, 80)}"`);
}

const hasOddQuotes = (line: string): boolean => line.split('"').length % 2 === 0;

/** The URL column, if the first line is a header; `null`: the first line is a URL. */
function urlColumn(first: string): number | null {
  const names = cellsOf(first).map((name) => name.trim().toLowerCase());
  const column = names.indexOf('url');
  if (column >= 0) return column;
  if (names.length === 1 || first.includes('://')) return null;
  throw new CrawlError(
    'usage-invalid',
    `CSV on stdin: expected a column "url" in its header, found ${names.slice(0, 10).join(', ')}`,
  );
}

/** A row without its line end; doubled quotes in a quoted cell are one. */
function cellsOf(row: string): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain] of `,${row}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    cells.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
  }
  return cells;
}

/**
 * Files of a batch as named on the command line: `-` is stdin, a folder stands for its files except those that Hadoop
 * hides, and names that end in `.gz` are gzip. Ends the command with a usage error if there is none.
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

/** Lines of a file, gzip if its name ends that way. It is opened when the first line is read. */
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

/** Hadoop and its tools ignore files whose names begin with an underscore or a dot. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^[._]/.test(entry.name))
    .map(({ name }) => join(folder, name))
    .sort();

/**
 * Seeds as named on the command line: `-` is stdin, `scheme://...` a URL, anything else a file, or a folder whose
 * `.txt` files are read in the order of their names. Ends the command with a usage error, before any work, if a file
 * cannot be read.
 */
export async function seedSources(session: Session, words: readonly string[]): Promise<readonly SeedSource[]> {
  const sources: SeedSource[] = [];
  const urls = words.filter(isUrl);
  if (urls.length > 0) sources.push({ name: 'command line', lines: urls });
  for (const word of new Set(words.filter((each) => !isUrl(each)))) {
    if (word === '-') {
      sources.push({ name: 'stdin', lines: linesOf(session.surroundings.stdin()) });
      continue;
    }
    const kind = await kindOf(word);
    if (kind === 'absent') return session.refuse(`no such seed file: ${word}${hint(word)}`);
    const files = kind === 'file' ? [word] : await textFiles(word);
    if (files.length === 0) return session.refuse(`no *.txt seed files in the folder ${word}`);
    for (const file of files) {
      if (!(await isReadable(file))) return session.refuse(`the seed file ${file} cannot be read: permission denied`);
      sources.push({ name: file, lines: linesOfFile(file) });
    }
  }
  return sources;
}

const isUrl = (word: string): boolean => /^[a-z][a-z0-9+.\t\n\r-]*:\/\//i.test(trimUrl(word));

const hint = (word: string): string =>
  /^[\w-]+(\.[\w-]+)+([:/]|$)/.test(word) ? ` (a URL begins with its scheme: https://${word})` : '';

async function kindOf(path: string): Promise<'file' | 'folder' | 'absent'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'absent';
  }
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

async function textFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => join(folder, name));
}
