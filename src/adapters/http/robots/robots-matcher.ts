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
 * Characters of a pattern times characters of a path up to which robots-parser has the last word. Its work for one rule
 * is their product; 100,000 of them are some 0.2 ms.
 */
const MAX_PRODUCT = 100_000;

/** A rule in the spelling of `robots-path.ts`. */
export interface PreparedRule {
  readonly allowed: boolean;
  readonly pattern: string;
}

interface Candidate {
  readonly index: number;
  readonly rule: PreparedRule;
  /** What stands between the wildcards. */
  readonly pieces: readonly string[];
  readonly isAnchored: boolean;
  /** Made when the rule first decides. */
  parser: RuleMatcher | null;
}

/**
 * Matching of RFC 9309 section 2.2.2: the longest rule wins, `allow` wins a tie, `*` and `$` are special. Returns the
 * index of the deciding rule, -1 for none.
 *
 * Rules are tried in their order of precedence by the pieces between their wildcards, in time linear in the path for
 * each rule; robots-parser is asked about the first that fits.
 */
export function createRuleMatcher(rules: readonly PreparedRule[]): (path: string) => number {
  const candidates = rules
    .map((rule, index) => candidateOf(rule, index))
    .sort(
      (a, b) =>
        b.rule.pattern.length - a.rule.pattern.length ||
        Number(b.rule.allowed) - Number(a.rule.allowed) ||
        a.index - b.index,
    );
  return (path) => candidates.find((candidate) => fits(candidate, path) && isConfirmed(candidate, path))?.index ?? -1;
}

function candidateOf(rule: PreparedRule, index: number): Candidate {
  const isAnchored = rule.pattern.endsWith('$');
  const pieces = (isAnchored ? rule.pattern.slice(0, -1) : rule.pattern).split('*');
  return { index, rule, pieces, isAnchored, parser: null };
}

/** The first piece is a prefix. Each of the others is taken at its first place, which leaves most to those behind. */
function fits({ pieces, isAnchored }: Candidate, path: string): boolean {
  const [first = '', ...rest] = pieces;
  if (!path.startsWith(first)) return false;
  if (rest.length === 0) return !isAnchored || path.length === first.length;
  const last = isAnchored ? (rest.pop() ?? '') : '';
  let at = first.length;
  for (const piece of rest) {
    const found = path.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}

function isConfirmed(candidate: Candidate, path: string): boolean {
  const { allowed, pattern } = candidate.rule;
  if (pattern.length * path.length > MAX_PRODUCT) return true;
  candidate.parser ??= robotsParser(
    `${ORIGIN}/robots.txt`,
    `user-agent: *\n${allowed ? 'allow' : 'disallow'}: ${pattern}`,
  );
  return candidate.parser.getMatchingLineNumber(ORIGIN + path, '*') === 2;
}
