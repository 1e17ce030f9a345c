import { createRequire } from 'node:module';

/** The part of robots-parser that is used: which rule of a prepared text decides about a path. */
export interface RuleMatcher {
  /** Line of the deciding rule, counted from 1; -1 when no rule matches. */
  getMatchingLineNumber(url: string, agent: string): number;
}

// Its type declarations promise a default export that CommonJS does not give under `nodenext`; this is the one place
// that knows.
const robotsParser = createRequire(import.meta.url)('robots-parser') as (url: string, text: string) => RuleMatcher;

/** The origin makes no difference once rules and paths are prepared, so that one stands for all. */
const ORIGIN = 'http://robots.invalid';

/**
 * robots-parser's matching (longest rule wins, `allow` wins a tie, `*` and `$`) over rules that are prepared already:
 * each of the form `allow: /path` or `disallow: /path`, comparable as `robots-path.ts` makes them. Answers with the
 * index of the deciding rule, -1 for none.
 */
export function createRuleMatcher(rules: readonly string[]): (path: string) => number {
  const matcher = robotsParser(`${ORIGIN}/robots.txt`, ['user-agent: *', ...rules].join('\n'));
  return (path) => {
    const line = matcher.getMatchingLineNumber(ORIGIN + path, '*');
    return line < 2 ? -1 : line - 2;
  };
}
