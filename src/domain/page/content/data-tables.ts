import { TagTable, tagNumber } from '../tape/tag-names.ts';
import type { Outline } from './outline.ts';

const TABLE = tagNumber('table');
const TR = tagNumber('tr');
const CELLS = TagTable.of(['td', 'th']);
const ROW_GROUPS = TagTable.of(['tbody', 'thead', 'tfoot']);
/** Tables lay these out; manuals have headings within tables. */
const LAID_OUT = TagTable.of(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'article', 'section', 'form']);
const HOLDS_TABLE = 1;
const HOLDS_LAID_OUT = 2;

/**
 * 1 for each table of data: it holds no other table and, but in manuals, two rows or more of two cells or more, without
 * headings.
 */
export function dataTables({ elementCount, elements }: Outline, isManual: boolean): Uint8Array {
  const { tag, parent } = elements;
  const holds = new Uint8Array(elementCount);
  const cells = new Int32Array(elementCount);
  const rows = new Int32Array(elementCount);
  // Ancestors come before what is in them.
  for (let at = elementCount - 1; at >= 0; at--) {
    const around = parent[at]!;
    if (around < 0) continue;
    holds[around]! |= holds[at]!;
    if (tag[at] === TABLE) holds[around]! |= HOLDS_TABLE;
    else if (LAID_OUT.has(tag[at]!)) holds[around]! |= HOLDS_LAID_OUT;
    else if (CELLS.has(tag[at]!)) cells[around]!++;
    else if (tag[at] === TR && cells[at]! > 1) rows[ROW_GROUPS.has(tag[around]!) ? parent[around]! : around]!++;
  }
  return Uint8Array.from({ length: elementCount }, (_, at) =>
    Number(tag[at] === TABLE && (isManual ? (holds[at]! & HOLDS_TABLE) === 0 : holds[at] === 0 && rows[at]! > 1)),
  );
}
