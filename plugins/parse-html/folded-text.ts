import { cutText } from 'incrawl/plugin';

const RUNS = /[\t-\r \u00a0]+/g;

/** White space collapsed to single spaces, and trimmed. */
export function foldText(data: string, maxLength: number): string {
  const folded = data.replace(RUNS, ' ');
  return cutText(folded.slice(folded.startsWith(' ') ? 1 : 0, folded.endsWith(' ') ? -1 : undefined), maxLength);
}
