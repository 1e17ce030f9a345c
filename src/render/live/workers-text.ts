import type { WatchedPartition, WorkersView } from '../../crawler/views.ts';
import { counted } from '../quantities.ts';
import { safeText } from '../safe-text.ts';
import { type Column, createTable, packedLines, type TextStyle } from '../table.ts';
import { partitionColumns, workerColumns, workerFaults, workersSums } from '../workers-columns.ts';

/** Those that need a look come first. */
const ORDER: readonly WatchedPartition['state'][] = ['failed', 'retrying', 'held', 'due', 'resting', 'done'];

/**
 * The workers and partitions of a crawl in lines.
 * @param most partitions shown; those that need a look come first
 */
export function workersLines(view: WorkersView, style: TextStyle, most = Number.POSITIVE_INFINITY): string[] {
  const { workers, partitions } = view;
  const sorted = [...partitions].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const shown = partitions.length <= most ? partitions : sorted.slice(0, Math.max(1, most));
  const left = partitions.length - shown.length;
  return [
    ...packedLines(workersSums(view).map(safeText), style.width, '  ').map((line) => style.bold(line)),
    ...(workers.length === 0 ? [] : ['', ...tableLines(workerColumns(view), workers, style)]),
    ...workerFaults(view).map(safeText),
    ...(shown.length === 0 ? [] : ['', ...tableLines(partitionColumns(view), shown, style)]),
    ...(left === 0 ? [] : [`and ${counted(left, 'other partition')}`]),
  ];
}

function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: TextStyle): string[] {
  const table = createTable(columns, style);
  const text = `${rows.map((row) => table.add(row)).join('')}${table.end()}`;
  return text.trimEnd().split('\n');
}
