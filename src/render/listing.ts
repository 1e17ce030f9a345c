import { csvRow } from '../core/domain/export/written-files.ts';
import type { Output } from './output.ts';
import { printedJson, safeLines } from './safe-text.ts';
import type { Column, TextStyle } from './table.ts';

export const LIST_FORMATS = ['table', 'json', 'jsonl', 'csv'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

export interface Listing<Row extends object> {
  readonly format: ListFormat;
  readonly columns: readonly Column<Row>[];
  readonly style: TextStyle;
}

/**
 * Writes rows as a stream, in bounded memory: a table, one JSON array, JSON lines, or CSV whose columns are the fields
 * of the first row. Stops early when the reader has closed the pipe. Resolves with the number of rows written.
 */
export async function writeListing<Row extends object>(
  out: Output,
  rows: AsyncIterable<Row> | Iterable<Row>,
  listing: Listing<Row>,
): Promise<number> {
  const writer = await WRITERS[listing.format]<Row>(listing, out.isTerminal);
  let written = 0;
  for await (const row of rows) {
    await out.write(writer.row(row, written++));
    if (out.closed) break;
  }
  await out.write(writer.end(written));
  await out.flush();
  return written;
}

interface RowWriter<Row> {
  row(row: Row, index: number): string;
  end(written: number): string;
}

type Opens = <Row extends object>(
  listing: Listing<Row>,
  isTerminal: boolean,
) => RowWriter<Row> | Promise<RowWriter<Row>>;

const WRITERS: { [Format in ListFormat]: Opens } = {
  async table({ columns, style }) {
    const { createTable } = await import('./table.ts');
    const writer = createTable(columns, style);
    return { row: (row) => writer.add(row), end: () => writer.end() };
  },
  json() {
    return {
      row: (row, index) => `${index === 0 ? '[\n' : ',\n'}${printedJson(row)}`,
      end: (written) => (written === 0 ? '[]\n' : '\n]\n'),
    };
  },
  jsonl() {
    return { row: (row) => `${printedJson(row)}\n`, end: () => '' };
  },
  csv(_listing, isTerminal) {
    let names: string[] = [];
    return {
      row(row, index) {
        if (index === 0) names = Object.keys(row);
        const cells = csvRow(names.map((name) => (row as Readonly<Record<string, unknown>>)[name]));
        const text = index === 0 ? csvRow(names) + cells : cells;
        return isTerminal ? safeLines(text) : text;
      },
      end: () => '',
    };
  },
};
