import type { PageDiff } from '../../crawler/index.ts';
import type { Color } from '../output.ts';
import { count } from '../quantities.ts';
import { safeLines, safeText } from '../safe-text.ts';

/** Unchanged text shown on each side of a change, characters. */
const CONTEXT_CHARS = 160;

interface DiffStyle {
  readonly bold: (text: string) => string;
  readonly color: Color;
  /** The whole text in reading order, not only the places that differ. */
  readonly full: boolean;
}

/** A diff for a terminal: `[-removed-]{+added+}` in colours, as `git diff --word-diff` writes it. */
export function diffText(diff: PageDiff, style: DiffStyle): string {
  const { from, to, distance } = diff;
  const { bold, full } = style;
  const version = (mark: string, { segment, at, title }: PageDiff['from']): string =>
    bold(`${mark} ${at}  segment ${segment}  ${safeText(title ?? '(no title)')}`);
  const bits = distance === null ? 'signatures not comparable' : `signature distance ${distance}`;
  const counts = `${count(diff.equal)} words equal, ${count(diff.deleted)} removed, ${count(diff.inserted)} added`;
  const head = [safeText(diff.url), version('---', from), version('+++', to), `${counts}; ${bits}`];
  if (diff.where.length > 0) head.push(`changed in: ${safeText(diff.where.join(', '))}`);
  else if (from.digest !== to.digest) head.push(SAME_TEXT);
  const parts = full ? [editsText(diff.edits, style)] : placeTexts(diff.places, style);
  return `${[head.join('\n'), ...parts].join('\n\n')}\n`;
}

/** The words of each place that differs, with the text around them. */
export const placeTexts = (places: PageDiff['places'], style: Pick<DiffStyle, 'bold' | 'color'>): string[] =>
  places.map(
    ({ place, edits }) => `${style.bold(`@@ ${safeText(place)} @@`)}\n${editsText(edits, { ...style, full: false })}`,
  );

/** Of two bodies that differ. */
export const SAME_TEXT = 'No text differs: only links, markup or hidden parts do.';

function editsText(edits: PageDiff['edits'], { color, full }: Pick<DiffStyle, 'color' | 'full'>): string {
  const body = edits.map(({ op, text }, i) => {
    if (op === 'delete') return color('red', `[-${safeLines(text)}-]`);
    if (op === 'insert') return color('green', `{+${safeLines(text)}+}`);
    return safeLines(full ? text : shortened(text, i === 0, i === edits.length - 1));
  });
  return body.join('').trimEnd();
}

/** Only the ends of the text that are next to a change. */
function shortened(text: string, isFirst: boolean, isLast: boolean): string {
  if (text.length <= CONTEXT_CHARS * (Number(!isFirst) + Number(!isLast))) return text;
  const head = isFirst ? '' : cut(text.slice(0, CONTEXT_CHARS), /\s\S*$/);
  const tail = isLast ? '' : cut(text.slice(-CONTEXT_CHARS), /^\S*\s/);
  return `${head}${isFirst ? '' : '\n'}…${isLast ? '' : '\n'}${tail}`;
}

/** Drops the word that the cut broke; text without spaces stays. */
const cut = (text: string, broken: RegExp): string => text.replace(broken, '');
