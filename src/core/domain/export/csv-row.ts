// core/domain/export/: CSV rows, and file names for URLs.

/** One row of CSV per RFC 4180, with its line end. Objects and lists become JSON. */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Spreadsheets run text that begins with = + - @ (or a tab or line break before one) as a formula, and the text comes
 * from foreign pages. Such a cell gets an apostrophe in front, which marks it as text. Numbers stay numbers.
 */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const guarded =
    /^[\s\u0000]*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) || /^[\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
