import type { PageDiff } from '../../../crawler.ts';
import type { Color } from '../../session.ts';
import { count } from '../quantities.ts';
import { safeLines, safeText } from '../safe-text.ts';

/** Of what stayed the same, so much is shown on each side of a change, characters. */
const CONTEXT_CHARS = 160;

/** A difference for a terminal: `[-what went-]{+what came+}` in colours, as `git diff --word-diff` writes it. */
export function diffText(
  diff: PageDiff,
  style: { readonly bold: (text: string) => string; readonly color: Color; readonly full: boolean },
): string {
  const { from, to, distance } = diff;
  const { bold, color, full } = style;
  const version = (mark: string, { segment, at, title }: PageDiff['from']): string =>
    bold(`${mark} ${at}  segment ${segment}  ${safeText(title ?? '(no title)')}`);
  const bits = distance === null ? 'signatures do not compare' : `signature distance ${distance}`;
  const words = `${count(diff.equal)} words equal, ${count(diff.deleted)} gone, ${count(diff.inserted)} new; ${bits}`;
  const body = diff.edits.map(({ op, text }, i) => {
    if (op === 'delete') return color('red', `[-${safeLines(text)}-]`);
    if (op === 'insert') return color('green', `{+${safeLines(text)}+}`);
    return safeLines(full ? text : shortened(text, i === 0, i === diff.edits.length - 1));
  });
  const isSame = diff.deleted + diff.inserted === 0;
  const head = `${safeText(diff.url)}\n${version('---', from)}\n${version('+++', to)}\n${words}\n`;
  return isSame && !full ? head : `${head}\n${body.join('').trimEnd()}\n`;
}

/** The ends that stand next to a change. */
function shortened(text: string, isFirst: boolean, isLast: boolean): string {
  if (text.length <= CONTEXT_CHARS * (Number(!isFirst) + Number(!isLast))) return text;
  const head = isFirst ? '' : cut(text.slice(0, CONTEXT_CHARS), /\s\S*$/);
  const tail = isLast ? '' : cut(text.slice(-CONTEXT_CHARS), /^\S*\s/);
  return `${head}${isFirst ? '' : '\n'}…${isLast ? '' : '\n'}${tail}`;
}

/** Without the word that was cut in two; a text without spaces keeps it. */
const cut = (text: string, broken: RegExp): string => text.replace(broken, '');
