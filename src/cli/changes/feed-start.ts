import { InvalidArgumentError } from 'commander';
import type { ChangeKind } from '../../crawler.ts';
import { closestName } from '../../domain/closest-name.ts';
import { CHANGE_KINDS } from '../../domain/crawl/change/page-change.ts';
import { moment, wholeNumber } from '../program/shared-options.ts';

/** Behind a number of the change feed, or from a time on, ms since the epoch. */
export type FeedStart = { readonly after: number } | { readonly notedFrom: number };

/** Parser of `--since`. */
export function feedStart(text: string): FeedStart {
  if (/^\d+$/.test(text)) return { after: wholeNumber(0)(text) };
  if (text === 'yesterday') return { notedFrom: moment('1d') };
  try {
    return { notedFrom: moment(text) };
  } catch {
    throw new InvalidArgumentError(
      'Expected yesterday, a time such as 2026-03-01 or 2026-03-01T08:00Z, how long ago such as 2h or 3d, or a number of the feed.',
    );
  }
}

/** Parser of `--kind`. */
export function changeKinds(text: string): ChangeKind[] {
  return text.split(',').map((word) => {
    const kind = CHANGE_KINDS.find((each) => each === word.trim());
    if (kind !== undefined) return kind;
    const guess = closestName(word, CHANGE_KINDS);
    throw new InvalidArgumentError(
      `Expected one of ${CHANGE_KINDS.join(', ')}.${guess === undefined ? '' : ` Did you mean ${guess}?`}`,
    );
  });
}
