import type { PdfAnnotation, PdfText } from './pdfjs.ts';

/** A part of a line with the address that it links to. */
export interface Run {
  readonly text: string;
  readonly href: string | null;
}

/** A line of text on a page. Lengths in units of the page, y upwards. */
export interface Line {
  readonly runs: readonly Run[];
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Of its base line. */
  readonly y: number;
  /** Of most of its characters. */
  readonly size: number;
}

export interface LinkedLines {
  readonly lines: readonly Line[];
  /** Addresses of links without text: those of images. */
  readonly bare: readonly string[];
}

interface Link {
  readonly href: string;
  readonly rect: PdfAnnotation['rect'];
  isUsed: boolean;
}

/** The lines of a page in the order of its content stream, with its links. */
export function pageLines(items: readonly PdfText[], annotations: readonly PdfAnnotation[]): LinkedLines {
  const links = annotations.flatMap(({ subtype, url, rect }): Link[] =>
    subtype === 'Link' && url !== undefined ? [{ href: url, rect, isUsed: false }] : [],
  );
  const lines: Line[] = [];
  let open: PdfText[] = [];
  const end = (): void => {
    if (open.some(({ str }) => str.trim() !== '')) lines.push(lineOf(inReadingOrder(open), links));
    open = [];
  };
  for (const item of items) {
    // An item without text that ends a line has the place of the next one.
    if (item.str !== '') open.push(item);
    if (item.hasEOL) end();
  }
  end();
  return { lines, bare: links.flatMap(({ href, isUsed }) => (isUsed ? [] : [href])) };
}

/**
 * A line in reading order: in a right-to-left script the words go from right to left, whatever order they were drawn
 * in, except for embedded words of the other direction.
 */
function inReadingOrder(items: readonly PdfText[]): readonly PdfText[] {
  const charsOf = (isCounted: (item: PdfText) => boolean): number =>
    items.reduce((sum, item) => sum + (isCounted(item) ? item.str.trim().length : 0), 0);
  if (2 * charsOf(({ dir }) => dir === 'rtl') <= charsOf(() => true)) return items;
  const ordered = [...items].sort((a, b) => b.transform[4] - a.transform[4]);
  const isOther = ({ dir, str }: PdfText): boolean => dir === 'ltr' && str.trim() !== '';
  for (let from = 0; from < ordered.length; from++) {
    let to = from;
    for (let at = from; at < ordered.length && (isOther(ordered[at]!) || ordered[at]!.str.trim() === ''); at++) {
      if (isOther(ordered[at]!)) to = at + 1;
    }
    if (to <= from || !isOther(ordered[from]!)) continue;
    ordered.splice(from, to - from, ...ordered.slice(from, to).reverse());
    from = to;
  }
  return ordered;
}

function lineOf(items: readonly PdfText[], links: readonly Link[]): Line {
  const runs: Run[] = [];
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [y, size, most] = [0, 0, 0];
  for (const item of items) {
    for (const run of runsOf(item, links)) add(runs, run);
    if (item.str.trim() === '') continue;
    const [x, own] = [item.transform[4], item.str.length];
    left = Math.min(left, x);
    right = Math.max(right, x + item.width);
    if (own <= most) continue;
    most = own;
    y = item.transform[5];
    size = sizeOf(item);
  }
  return { runs, text: runs.map(({ text }) => text).join(''), left, right, y, size };
}

/** Height of the font on the page. */
const sizeOf = ({ transform: [, , c, d] }: PdfText): number => Math.hypot(c, d);

function add(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last === undefined || last.href !== run.href) runs.push(run);
  else runs[runs.length - 1] = { text: last.text + run.text, href: run.href };
}

/** Share of an item from which a link covers the whole item. */
const MOST = 0.9;

/** Cuts an item where links begin and end. */
function runsOf(item: PdfText, links: readonly Link[]): Run[] {
  const { str, width } = item;
  const [, , , , x, y] = item.transform;
  if (str.trim() === '' || width <= 0) return [{ text: str, href: null }];
  const runs: Run[] = [];
  let done = 0;
  const here = links
    .filter(({ rect: [left, lower, right, upper] }) => {
      const overlap = Math.min(right, x + width) - Math.max(left, x);
      return y >= lower - 1 && y <= upper && overlap > Math.min(width, right - left) / 2;
    })
    .sort((a, b) => a.rect[0] - b.rect[0]);
  for (const link of here) {
    link.isUsed = true;
    const [left, , right] = link.rect;
    const isWhole = Math.min(right, x + width) - Math.max(left, x) > MOST * width;
    const from = isWhole ? done : Math.max(done, wordEdge(str, ((left - x) / width) * str.length));
    const to = isWhole ? str.length : Math.max(from, wordEdge(str, ((right - x) / width) * str.length));
    if (from > done) runs.push({ text: str.slice(done, from), href: null });
    if (to > from) runs.push({ text: str.slice(from, to), href: link.href });
    done = Math.max(done, to);
  }
  if (done < str.length) runs.push({ text: str.slice(done), href: null });
  return runs;
}

/** The word boundary nearest to a place, which is an estimate: letters are not equally wide. */
function wordEdge(text: string, place: number): number {
  let [nearest, distance] = [0, place];
  for (let at = 1; at <= text.length; at++) {
    const isEdge = at === text.length || (text[at - 1] === ' ') !== (text[at] === ' ');
    if (isEdge && Math.abs(at - place) < distance) [nearest, distance] = [at, Math.abs(at - place)];
  }
  return nearest;
}
