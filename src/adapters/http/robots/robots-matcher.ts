import { createRequire } from 'node:module';

/** The part of robots-parser in use: the rule that decides on a path. */
export interface RuleMatcher {
  /** Line of the deciding rule, counted from 1; -1 when no rule matches. */
  getMatchingLineNumber(url: string, agent: string): number;
}

// Its type declarations promise a default export that CommonJS does not give under `nodenext`; only this file depends
// on that.
const robotsParser = createRequire(import.meta.url)('robots-parser') as (url: string, text: string) => RuleMatcher;

/** Any origin serves once rules and paths are prepared. */
const ORIGIN = 'http://robots.invalid';

/**
 * robots-parser's matching (longest rule wins, `allow` wins a tie, `*` and `$`) over prepared rules: each of the form
 * `allow: /path` or `disallow: /path`, in the spelling of `robots-path.ts`. Returns the index of the deciding rule, -1
 * for none.
 */
export function createRuleMatcher(rules: readonly string[]): (path: string) => number {
  const matcher = robotsParser(`${ORIGIN}/robots.txt`, ['user-agent: *', ...rules].join('\n'));
  return (path) => {
    const line = matcher.getMatchingLineNumber(ORIGIN + path, '*');
    return line < 2 ? -1 : line - 2;
  };
}
