import { csvRow } from '../../domain/export/csv-row.ts';
import type { Output } from '../output.ts';
import type { Column } from './table.ts';

export const LIST_FORMATS = ['table', 'json', 'jsonl', 'csv'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

export interface Listing<Row extends object> {
  readonly format: ListFormat;
  readonly columns: readonly Column<Row>[];
  readonly bold: (text: string) => string;
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
  const writer = await WRITERS[listing.format]<Row>(listing);
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

type Opens = <Row extends object>(listing: Listing<Row>) => RowWriter<Row> | Promise<RowWriter<Row>>;

const WRITERS: { [Format in ListFormat]: Opens } = {
  async table({ columns, bold }) {
    const { createTable } = await import('./table.ts');
    const writer = createTable(columns, bold);
    return { row: (row) => writer.add(row), end: () => writer.end() };
  },
  json() {
    return {
      row: (row, index) => `${index === 0 ? '[\n' : ',\n'}${JSON.stringify(row)}`,
      end: (written) => (written === 0 ? '[]\n' : '\n]\n'),
    };
  },
  jsonl() {
    return { row: (row) => `${JSON.stringify(row)}\n`, end: () => '' };
  },
  csv() {
    let names: string[] = [];
    return {
      row(row, index) {
        if (index === 0) names = Object.keys(row);
        const cells = csvRow(names.map((name) => (row as Readonly<Record<string, unknown>>)[name]));
        return index === 0 ? csvRow(names) + cells : cells;
      },
      end: () => '',
    };
  },
};
