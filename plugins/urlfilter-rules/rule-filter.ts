import type { Log, UrlFilter, UrlVerdict } from 'incrawl/plugin';
import { RE2Set } from 're2js';
import type { Rule } from './rules.ts';

export interface RuleFilterOptions {
  readonly maxUrlLength: number;
  /** A rule that takes longer over one URL is named in the log, once. */
  readonly slowRuleMs: number;
  readonly log: Log;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/** A filter by which the first rule that matches decides; a URL that no rule matches is kept out. */
export function createRuleFilter(rules: readonly Rule[], options: RuleFilterOptions): UrlFilter {
  const { maxUrlLength, slowRuleMs, log, now } = options;
  // Made once: the filter is asked about every link of every page.
  const verdicts = rules.map(verdictOf);
  const tooLong: UrlVerdict = { accept: false, reason: `longer than ${maxUrlLength} characters` };
  const unmatched: UrlVerdict = { accept: false, reason: 'no rule matches' };
  const firstMatch = createFirstMatch(rules);
  const reported = new Set<Rule>();

  /** Runs the rules one by one, to find out which of them was slow. */
  const reportSlowRule = (url: string): void => {
    for (const rule of rules) {
      if (rule.regex === null) return;
      if (reported.has(rule)) continue;
      const before = now();
      const matches = rule.regex.test(url);
      const ms = now() - before;
      if (ms > slowRuleMs) {
        reported.add(rule);
        log.warn(`rule line ${rule.line} is slow`, { rule: rule.text, ms, slowRuleMs, url });
        return;
      }
      if (matches) return;
    }
  };

  return {
    filter(url) {
      if (url.length > maxUrlLength) return tooLong;
      const before = now();
      const index = firstMatch(url);
      if (now() - before > slowRuleMs) reportSlowRule(url);
      return verdicts[index] ?? unmatched;
    },
  };
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
