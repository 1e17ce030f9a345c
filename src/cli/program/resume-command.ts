import { withoutPassword } from '../../config/store-url.ts';
import { shellWord } from '../process/shell-word.ts';

/**
 * The command line that resumes a stopped one: the same without its seeds, which are in the crawl db by now, and
 * without passwords, since the text may end up in a log. Quoted for a POSIX shell.
 */
export function resumeCommand(argv: readonly string[], seeds: readonly string[]): string {
  const words = [...argv];
  for (const seed of seeds) {
    const index = words.lastIndexOf(seed);
    if (index >= 0) words.splice(index, 1);
  }
  return ['incrawl', ...words].map((word) => shellWord(withoutPassword(word))).join(' ');
}
