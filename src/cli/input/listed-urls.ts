import { CrawlError } from '../../domain/errors.ts';

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

/** Lines that are not blank; of CSV, those that a quoted cell spans are one row. */
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

/** The column of URLs, where the first line is a header; `null`: it is a URL itself. */
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
