import type { PageDiff } from '../../../crawler.ts';
import type { Color } from '../../session.ts';
import { count } from '../quantities.ts';
import { safeLines, safeText } from '../safe-text.ts';

/** Unchanged text shown on each side of a change, characters. */
const CONTEXT_CHARS = 160;

/** A diff for a terminal: `[-removed-]{+added+}` in colours, as `git diff --word-diff` writes it. */
export function diffText(
  diff: PageDiff,
  style: { readonly bold: (text: string) => string; readonly color: Color; readonly full: boolean },
): string {
  const { from, to, distance } = diff;
  const { bold, color, full } = style;
  const version = (mark: string, { segment, at, title }: PageDiff['from']): string =>
    bold(`${mark} ${at}  segment ${segment}  ${safeText(title ?? '(no title)')}`);
  const bits = distance === null ? 'signatures not comparable' : `signature distance ${distance}`;
  const counts = `${count(diff.equal)} words equal, ${count(diff.deleted)} removed, ${count(diff.inserted)} added`;
  const words = `${counts}; ${bits}`;
  const body = diff.edits.map(({ op, text }, i) => {
    if (op === 'delete') return color('red', `[-${safeLines(text)}-]`);
    if (op === 'insert') return color('green', `{+${safeLines(text)}+}`);
    return safeLines(full ? text : shortened(text, i === 0, i === diff.edits.length - 1));
  });
  const isSame = diff.deleted + diff.inserted === 0;
  const head = `${safeText(diff.url)}\n${version('---', from)}\n${version('+++', to)}\n${words}\n`;
  return isSame && !full ? head : `${head}\n${body.join('').trimEnd()}\n`;
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
