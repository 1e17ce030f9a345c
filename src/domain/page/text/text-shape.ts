/** Statistics of the characters of a text. */
export interface TextShape {
  /** Visual width: a Chinese or Japanese character counts as three letters. */
  readonly width: number;
  readonly digits: number;
  /** Marks that end or divide sentences, Latin and full-width. */
  readonly marks: number;
  readonly lines: number;
  readonly endsSentence: boolean;
}

const MARKS = '.!?,:;…。！？，、；：';
const ENDS = new Set([...'.!?…)"。！？”’」』'].map((mark) => mark.charCodeAt(0)));

const DIGIT = 1;
const FEED = 2;
const MARK = 3;
const WIDE = 4;
/** By character code. Few pages use characters beyond the first 128, so the rest of the table is seldom touched. */
const KINDS = characterKinds();

function characterKinds(): Uint8Array {
  const kinds = new Uint8Array(0x1_0000);
  kinds.fill(DIGIT, 0x30, 0x3a);
  kinds[0x0a] = FEED;
  for (const mark of MARKS) kinds[mark.charCodeAt(0)] = MARK;
  kinds.fill(WIDE, 0x3040, 0x3100);
  kinds.fill(WIDE, 0x3400, 0xa000);
  kinds.fill(WIDE, 0xf900, 0xfb00);
  return kinds;
}

export function textShape(text: string): TextShape {
  const { length } = text;
  let width = length;
  let digits = 0;
  let marks = 0;
  let lines = 1;
  for (let i = 0; i < length; i++) {
    const kind = KINDS[text.charCodeAt(i)]!;
    if (kind === 0) continue;
    if (kind === DIGIT) digits++;
    else if (kind === MARK) marks++;
    else if (kind === WIDE) width += 2;
    else lines++;
  }
  return { width, digits, marks, lines, endsSentence: ENDS.has(text.charCodeAt(length - 1)) };
}
