/** What is known of a link beside its URL. */
export interface LinkMark {
  /** Reason why it counts as noise; `null`: it does not. */
  readonly noise: string | null;
  readonly isNextPage: boolean;
  /** Its score over that of a link with the same marks and no text. */
  readonly factor: number;
}

export const NO_MARK: LinkMark = Object.freeze({ noise: null, isNextPage: false, factor: 1 });

/** Longest text of the marks of a page; what is beyond is left out, the rarest marks first. */
const MAX_CHARS = 2_000;

/**
 * The marks of the links of a page by their places in its list of links, as text; empty without any. Such as
 * `noise:nav 0-57,60; next 3; x2.5 4`: links with one mark lie together in most pages, so it is short.
 */
export function encodeMarks(marks: ReadonlyMap<number, LinkMark>): string {
  const places = new Map<string, number[]>();
  for (const [place, mark] of [...marks].sort(([a], [b]) => a - b)) {
    const name = nameOf(mark);
    if (name === '') continue;
    const known = places.get(name);
    if (known === undefined) places.set(name, [place]);
    else known.push(place);
  }
  let text = '';
  for (const [name, list] of [...places].sort(([, a], [, b]) => b.length - a.length)) {
    const group = `${name} ${rangesOf(list)}`;
    if (text.length + group.length + 2 <= MAX_CHARS) text += text === '' ? group : `; ${group}`;
  }
  return text;
}

/** The marks that {@link encodeMarks} wrote; of anything else what can be read. */
export function decodeMarks(text = ''): ReadonlyMap<number, LinkMark> {
  const marks = new Map<number, LinkMark>();
  for (const group of text.slice(0, MAX_CHARS).split('; ')) {
    const [name = '', ranges = ''] = group.split(' ');
    const mark = markOf(name);
    for (const range of ranges.split(',')) {
      const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range) ?? [];
      if (from === undefined) continue;
      for (let place = Number(from); place <= Number(to); place++) marks.set(place, mark);
    }
  }
  return marks;
}

function nameOf({ noise, isNextPage, factor }: LinkMark): string {
  const parts = [
    noise === null ? '' : `noise:${encodeURIComponent(noise.replace(/\p{Cs}/gu, '\ufffd'))}`,
    isNextPage ? 'next' : '',
    factor === 1 ? '' : `x${Number(factor.toPrecision(3))}`,
  ];
  return parts.filter((part) => part !== '').join('+');
}

function markOf(name: string): LinkMark {
  let mark = NO_MARK;
  for (const part of name.split(/\+(?=noise:|next|x\d)/)) {
    const factor = Number(part.slice(1));
    if (part.startsWith('noise:')) mark = { ...mark, noise: decodedText(part.slice('noise:'.length)) };
    else if (part === 'next') mark = { ...mark, isNextPage: true };
    else if (part.startsWith('x') && factor > 0 && factor < Number.POSITIVE_INFINITY) mark = { ...mark, factor };
  }
  return mark;
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Numbers in ascending order as `0-57,60`. */
function rangesOf(places: readonly number[]): string {
  const ranges: string[] = [];
  for (let at = 0; at < places.length; ) {
    const from = at++;
    while (at < places.length && places[at] === places[at - 1]! + 1) at++;
    ranges.push(at - from === 1 ? `${places[from]}` : `${places[from]}-${places[at - 1]}`);
  }
  return ranges.join(',');
}
