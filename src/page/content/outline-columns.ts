const FIRST_ROWS = 1_024;
/** Longer columns are not kept for the next page. */
const KEPT_ROWS = 1 << 14;

const column = (): Int32Array<ArrayBuffer> => new Int32Array(FIRST_ROWS);

/** The block elements of a page, in document order: a column for each fact. */
export class ElementColumns {
  tag = column();
  /** Its own signs: class words and element signs. */
  signs = column();
  /** Position of the parent element; -1: none. */
  parent = column();
  depth = column();
  /** Equal for elements of one name and class. */
  looks = column();
  /** Number of the group of siblings that look alike, and how many these are. */
  group = column();
  alike = column();
  /** Characters of all visible text below it, and of its links; its blocks. */
  chars = column();
  linkChars = column();
  blocks = column();
}

/** The blocks of a page, in reading order. */
export class BlockColumns {
  /** Range of its text in {@link Outline.bytes}, and the characters (UTF-16 units) of that. */
  from = column();
  to = column();
  chars = column();
  /** Entry of its first text on the tape. */
  firstText = column();
  /** Whether it has characters beyond ASCII. */
  isWide = column();
  linkChars = column();
  links = column();
  /** Heading level 1 to 6, else 0. */
  heading = column();
  /** Position of the innermost block element around it; -1: none. */
  holder = column();
  /** Visual width: a Chinese or Japanese character counts as three letters. */
  width = column();
  digits = column();
  /** Marks that end or divide sentences, Latin and full-width. */
  marks = column();
  lines = column();
  endsSentence = column();
}

/** Makes place for a row behind `rows` of them. */
export function extend(table: ElementColumns | BlockColumns, rows: number): void {
  if (rows < table.chars.length) return;
  const columns = table as unknown as Record<string, Int32Array<ArrayBuffer>>;
  for (const [name, numbers] of Object.entries(columns)) {
    const longer = new Int32Array(2 * rows);
    longer.set(numbers);
    columns[name] = longer;
  }
}

/** Whether a table has grown so long that a new one is to be made for the next page. */
export const isTooLong = ({ chars }: ElementColumns | BlockColumns): boolean => chars.length > KEPT_ROWS;

/** Text was counted for the innermost element; ancestors come before it. */
export function addUp({ parent, chars, linkChars, blocks }: ElementColumns, count: number): void {
  for (let at = count - 1; at >= 0; at--) {
    const around = parent[at]!;
    if (around < 0) continue;
    chars[around]! += chars[at]!;
    linkChars[around]! += linkChars[at]!;
    blocks[around]! += blocks[at]!;
  }
}

/** Counts the siblings that look like each element. */
export function countAlike({ parent, looks, group, alike }: ElementColumns, count: number): void {
  const groups = new Map<number, number>();
  const counts = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    const key = (parent[at]! + 1) * 0x10_0000 + looks[at]!;
    const found = groups.get(key) ?? groups.size;
    if (found === groups.size) groups.set(key, found);
    counts[found]!++;
    group[at] = found;
  }
  for (let at = 0; at < count; at++) alike[at] = counts[group[at]!]!;
}
