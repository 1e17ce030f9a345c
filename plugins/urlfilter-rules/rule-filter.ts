import type { Log, UrlFilter, UrlVerdict } from 'incrawl/plugin';
import type { Rule } from './rules.ts';

export interface RuleFilterOptions {
  readonly maxUrlLength: number;
  /** A rule that takes longer over one URL is named in the log, once. */
  readonly slowRuleMs: number;
  readonly log: Log;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/** A filter by which the first rule that matches decides; a URL that none matches is kept out. */
export function createRuleFilter(rules: readonly Rule[], options: RuleFilterOptions): UrlFilter {
  const { maxUrlLength, slowRuleMs, log, now } = options;
  // Made once: the filter is asked about every link of every page.
  const judged = rules.map((rule) => ({ rule, verdict: verdictOf(rule) }));
  const tooLong: UrlVerdict = { accept: false, reason: `longer than ${maxUrlLength} characters` };
  const unmatched: UrlVerdict = { accept: false, reason: 'no rule matches' };
  const reported = new Set<Rule>();

  const decide = (url: string): UrlVerdict => {
    for (const { rule, verdict } of judged) if (rule.regex === null || rule.regex.test(url)) return verdict;
    return unmatched;
  };

  /** Asks the rules one by one, to find out which of them was slow. */
  const reportSlowRule = (url: string): void => {
    for (const { rule } of judged) {
      if (rule.regex === null || reported.has(rule)) continue;
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
      const verdict = decide(url);
      if (now() - before > slowRuleMs) reportSlowRule(url);
      return verdict;
    },
  };
}

function verdictOf(rule: Rule): UrlVerdict {
  return Object.freeze({ accept: rule.accept, reason: `rule line ${rule.line}: ${rule.text}` });
}
