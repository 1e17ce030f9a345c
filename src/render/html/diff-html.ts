import type { PageDiff } from '../../crawler/index.ts';
import { SAME_TEXT } from '../text/diff-text.ts';
import { escaped } from './blocks-html.ts';

interface Row {
  left: string;
  right: string;
  isChanged: boolean;
}

/** Screenshots of the versions as PNG; `null`: there is none. */
export interface Pictures {
  readonly from: Uint8Array | null;
  readonly to: Uint8Array | null;
}

/**
 * Two versions side by side as an HTML file: no script, no external resource. All text of the page is escaped; in
 * addition, a content security policy forbids scripts and requests.
 */
export function diffHtml(diff: PageDiff, pictures: Pictures): string {
  const { from, to } = diff;
  const head = (version: PageDiff['from']): string =>
    `<th scope="col"><bdi>${escaped(version.title ?? '(no title)')}</bdi><br><small>${escaped(version.at)}, segment ${escaped(version.segment)}</small></th>`;
  const rows = rowsOf(diff).map(
    ({ left, right, isChanged }) =>
      `<tr${isChanged ? ' class="changed"' : ''}><td dir="auto">${left}</td><td dir="auto">${right}</td></tr>`,
  );
  if (pictures.from !== null || pictures.to !== null) {
    rows.unshift(`<tr><td>${imageOf(pictures.from)}</td><td>${imageOf(pictures.to)}</td></tr>`);
  }
  const distance = diff.distance === null ? 'Signatures not comparable.' : `Signature distance ${diff.distance}.`;
  const where =
    diff.where.length > 0
      ? `Changed in: ${escaped(diff.where.join(', '))}.`
      : from.digest === to.digest
        ? ''
        : SAME_TEXT;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Changes of ${escaped(to.title ?? diff.url)}</title>
<style>
:root { color-scheme: light dark; --gone: #ffd9d6; --new: #c9f0d3; --line: #ccc; --ink: #1a1a1a; --paper: #fff; --pale: #5c5c5c; }
@media (prefers-color-scheme: dark) { :root { --gone: #6b2320; --new: #14532d; --line: #444; --ink: #eee; --paper: #16181b; --pale: #a8a8a8; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 90rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { text-align: start; vertical-align: top; padding: .35rem .75rem; border-bottom: 1px solid var(--line); white-space: pre-wrap; }
th { white-space: normal; }
small, tr:not(.changed) td { color: var(--pale); }
del { background: var(--gone); }
ins { background: var(--new); }
img { max-width: 100%; border: 1px solid var(--line); }
</style></head><body>
<h1><bdi>${escaped(diff.url)}</bdi></h1>
<p>${diff.equal} words equal, ${diff.deleted} removed (<del>struck out</del>), ${diff.inserted} added (<ins>underlined</ins>). ${distance} ${where}</p>
<table><thead><tr>${head(from)}${head(to)}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table>
</body></html>
`;
}

const imageOf = (png: Uint8Array | null): string =>
  png === null
    ? '(no screenshot)'
    : `<img alt="Screenshot" src="data:image/png;base64,${Buffer.from(png).toString('base64')}">`;

/** A row ends where both versions break the line. */
function rowsOf({ edits }: PageDiff): Row[] {
  const rows: Row[] = [];
  let row: Row = { left: '', right: '', isChanged: false };
  for (const { op, text } of edits) {
    if (op !== 'equal') {
      if (op === 'delete') row.left += `<del>${escaped(text)}</del>`;
      else row.right += `<ins>${escaped(text)}</ins>`;
      row.isChanged = true;
      continue;
    }
    for (const [i, line] of text.split('\n').entries()) {
      if (i > 0) {
        rows.push(row);
        row = { left: '', right: '', isChanged: false };
      }
      row.left += escaped(line);
      row.right += escaped(line);
    }
  }
  rows.push(row);
  return rows.filter(({ left, right }) => left !== '' || right !== '');
}
