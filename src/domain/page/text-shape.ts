/** What the characters of a text tell without reading it. */
export interface TextShape {
  /** Length as it reads: a character of Chinese or Japanese says about as much as three letters. */
  readonly width: number;
  readonly digits: number;
  /** Marks that end or divide sentences, Latin and full-width. */
  readonly marks: number;
  readonly lines: number;
  readonly endsSentence: boolean;
}

const MARKS = new Set([...'.!?,:;…。！？，、；：'].map((mark) => mark.charCodeAt(0)));
const ENDS = new Set([...'.!?…)"。！？”’」』'].map((mark) => mark.charCodeAt(0)));

const isWide = (code: number): boolean =>
  (code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff);

export function textShape(text: string): TextShape {
  const { length } = text;
  let width = length;
  let digits = 0;
  let marks = 0;
  let lines = 1;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    // Nearly all are lower-case letters and spaces.
    if (code >= 0x61 && code <= 0x7a) continue;
    if (code < 0x3a && code > 0x2f) digits++;
    else if (code === 0x0a) lines++;
    else if (isWide(code)) width += 2;
    else if (MARKS.has(code)) marks++;
  }
  return { width, digits, marks, lines, endsSentence: ENDS.has(text.charCodeAt(length - 1)) };
}
