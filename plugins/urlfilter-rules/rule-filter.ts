import type { UrlFilter, UrlVerdict } from 'incrawl/plugin';
import { RE2Set } from 're2js';
import type { Rule } from './rules.ts';

/**
 * A filter in which the first matching rule decides; a URL that no rule matches, or that has more characters than
 * `maxUrlLength`, is rejected. It reads no clock: its verdict follows only from the rules and the URL.
 */
export function createRuleFilter(rules: readonly Rule[], maxUrlLength: number): UrlFilter {
  // Created once: the filter is called for every link of every page.
  const verdicts = rules.map(verdictOf);
  const tooLong: UrlVerdict = { accept: false, reason: `longer than ${maxUrlLength} characters` };
  const unmatched: UrlVerdict = { accept: false, reason: 'no rule matches' };
  const firstMatch = createFirstMatch(rules);
  return { filter: (url) => (url.length > maxUrlLength ? tooLong : (verdicts[firstMatch(url)] ?? unmatched)) };
}

/**
 * Rules matched in one pass over the URL. The lazily built automaton has a state for each combination of rules that may
 * still match; beyond some 200 rules these no longer fit its 8 MB, and the matcher falls back to its far slower NFA.
 */
const RULES_A_PASS = 50;

/** Index of the first rule that matches, or the number of rules. */
function createFirstMatch(rules: readonly Rule[]): (url: string) => number {
  const catchAll = rules.findIndex(({ regex }) => regex === null);
  const end = catchAll < 0 ? rules.length : catchAll;
  const passes: { readonly from: number; readonly set: RE2Set }[] = [];
  for (let from = 0; from < end; from += RULES_A_PASS) {
    const set = new RE2Set();
    for (const { regex } of rules.slice(from, Math.min(from + RULES_A_PASS, end))) set.add(regex!.pattern());
    set.compile();
    passes.push({ from, set });
  }
  return (url) => {
    for (const { from, set } of passes) {
      const [first] = set.match(url); // in ascending order
      if (first !== undefined) return from + first;
    }
    return end;
  };
}

function verdictOf(rule: Rule): UrlVerdict {
  return Object.freeze({ accept: rule.accept, reason: `rule line ${rule.line}: ${rule.text}` });
}
