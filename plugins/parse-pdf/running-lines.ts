import type { Line } from './page-lines.ts';

/** Pages on which a line must stand to be a running head. */
const LEAST_PAGES = 3;
/** Lines from the upper and from the lower edge of a page that can be running heads. */
const EDGE_LINES = 2;
/** Grid of places, in units of a page (1/72 inch). */
const GRID = 4;
/** Distance of running heads from the text, in font sizes. */
const APART = 1.6;
/** Share of the pages on which lines with a number stand at a place where page numbers are. */
const MOST = 0.3;
/** A page number, Roman ones too, at the beginning or the end of a line. */
const NUMBERED = /^\s*(?:\d+|[ivxlc]+)\b|\b(?:\d+|[ivxlc]+)\s*$/;

/**
 * Removes running heads and page numbers: lines at the edge of pages that say the same at the same place on several
 * pages. Those that stand apart from the text may differ by digits, and where page numbers stand, by all but these.
 */
export function withoutRunningLines(pages: readonly (readonly Line[])[]): Line[][] {
  const edges = pages.map(edgeLines);
  const pagesOf = new Map<string, number>();
  for (const edge of edges) {
    for (const key of new Set([...edge.values()].flat())) pagesOf.set(key, (pagesOf.get(key) ?? 0) + 1);
  }
  const isRunning = (keys: readonly string[]): boolean =>
    keys.some((key) => {
      const count = pagesOf.get(key) ?? 0;
      return count >= LEAST_PAGES && (!key.startsWith(NUMBER) || count >= MOST * pages.length);
    });
  return pages.map((lines, page) => lines.filter((line) => !isRunning(edges[page]!.get(line) ?? [])));
}

const NUMBER = 'number';

/** The lines at the edges of a page, each with the keys by which it is found on other pages. */
function edgeLines(lines: readonly Line[]): Map<Line, string[]> {
  const falling = [...lines].sort((a, b) => b.y - a.y);
  const edge = new Map<Line, string[]>();
  for (const ordered of [falling, falling.toReversed()]) {
    const isApart = ordered.slice(0, EDGE_LINES + 1).map((line, i) => {
      const next = ordered[i + 1];
      return next === undefined || Math.abs(next.y - line.y) > APART * line.size;
    });
    for (const [i, line] of ordered.slice(0, EDGE_LINES).entries()) {
      edge.set(line, keysOf(line, isApart.slice(i, EDGE_LINES).some(Boolean)));
    }
  }
  return edge;
}

/** @param isApart the line stands apart from the text */
function keysOf({ text, y }: Line, isApart: boolean): string[] {
  const place = Math.round(y / GRID);
  if (!isApart) return [`line ${place} ${text.trim()}`];
  const head = `head ${place} ${text.trim().replaceAll(/\d+|\b[ivxlc]+$/g, '#')}`;
  return NUMBERED.test(text) ? [head, `${NUMBER} ${place}`] : [head];
}
