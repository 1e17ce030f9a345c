import { type RobotsLine, robotsLines } from './robots-lines.ts';
import { createRuleMatcher, type PreparedRule } from './robots-matcher.ts';
import { comparablePath, comparablePattern } from './robots-path.ts';

/** The rules of one robots.txt for one crawler. */
export interface ParsedRobots {
  /** Verdict on a path with its query, beginning with `/`. */
  decide(pathAndQuery: string): RobotsDecision;
  /** False when every path is allowed, so that no path has to be matched. */
  readonly hasRules: boolean;
  /** Crawl-delay in seconds, at most a day; `null` without a valid one. */
  readonly crawlDelay: number | null;
  /** As written; each once. */
  readonly sitemaps: readonly string[];
}

export interface RobotsDecision {
  readonly allowed: boolean;
  /** The rule that decided, as written; `null` where none did. */
  readonly rule: { readonly line: number; readonly text: string } | null;
}

interface Rule {
  readonly decision: RobotsDecision;
  readonly prepared: PreparedRule;
}

interface Group {
  readonly agents: string[];
  readonly rules: RobotsLine[];
  crawlDelay: number | null;
}

const MAX_CRAWL_DELAY_S = 86_400;
const MAX_SITEMAPS = 1000;
/**
 * Characters of all rules with `*` together. Rules beyond are cut at their first `*`: each costs work for every URL.
 */
const MAX_WILDCARD_CHARS = 32 * 1024;
const ALLOWED: RobotsDecision = Object.freeze({ allowed: true, rule: null });

/**
 * Parses robots.txt by RFC 9309 for the crawler of this product token. It selects the groups of the token and rewrites
 * their rules in one spelling, in which they are matched. Never throws: invalid lines are skipped.
 */
export function parseRobots(text: string, productToken: string): ParsedRobots {
  const lines = robotsLines(text);
  const groups = groupsFor(lines, productToken);
  const rules = preparedRules(groups.flatMap((group) => group.rules));
  const delays = groups.flatMap((group) => group.crawlDelay ?? []);
  const match = rules.length === 0 ? null : createRuleMatcher(rules.map((rule) => rule.prepared));
  return {
    hasRules: match !== null,
    crawlDelay: delays.length === 0 ? null : delays.reduce((a, b) => Math.max(a, b)),
    sitemaps: sitemapsOf(lines),
    decide(pathAndQuery) {
      if (match === null) return ALLOWED;
      const path = comparablePath(pathAndQuery);
      // RFC 9309 section 2.2.2: /robots.txt itself is always allowed.
      if (path === '/robots.txt') return ALLOWED;
      return rules[match(path)]?.decision ?? ALLOWED;
    },
  };
}

/**
 * Groups that name the token, or else those for `*`. A named group without rules allows everything: there is no
 * fallback to `*`.
 */
function groupsFor(lines: readonly RobotsLine[], productToken: string): Group[] {
  const token = productToken.trim().split(/[\s/]/)[0]?.toLowerCase() ?? '';
  const groups = groupsOf(lines);
  const named = groups.filter((group) => group.agents.some((agent) => namesToken(agent, token)));
  return named.length > 0 ? named : groups.filter((group) => group.agents.some((agent) => /^\*(\s|$)/.test(agent)));
}

/**
 * Collects agents until a rule comes; sitemaps, delays and unknown lines between them end nothing. Rules before the
 * first agent belong to no group. A delay belongs to the agents since the delay before, or after rules to the whole
 * group, which is why one group may be returned as several with the same rules.
 */
function groupsOf(lines: readonly RobotsLine[]): Group[] {
  const groups: Group[] = [];
  let current: Group[] = [];
  let hasRules = false;
  let isAfterDelay = true;
  for (const line of lines) {
    if (line.field === 'user-agent') {
      if (hasRules) {
        current = [];
        hasRules = false;
        isAfterDelay = true;
      }
      if (isAfterDelay) {
        const group: Group = { agents: [], rules: current[0]?.rules ?? [], crawlDelay: null };
        current.push(group);
        groups.push(group);
        isAfterDelay = false;
      }
      current.at(-1)?.agents.push(...agentsIn(line.value));
    } else if (line.field === 'crawl-delay') {
      const delay = crawlDelayIn(line.value);
      for (const group of hasRules ? current : current.slice(-1)) group.crawlDelay ??= delay;
      isAfterDelay = true;
    } else if (line.field !== 'sitemap') {
      current[0]?.rules.push(line);
      hasRules = true;
    }
  }
  return groups;
}

/** `One, Two` names two agents. */
const agentsIn = (value: string): string[] =>
  value
    .toLowerCase()
    .split(',')
    .map((agent) => agent.trim());

/**
 * RFC 9309 requires the whole product token; it ends where a version, a space or a comment in parentheses begins. A `*`
 * within, as in `foo*bot`, matches any characters, though no standard says so.
 */
function namesToken(agent: string, token: string): boolean {
  const name = agent.split(/[\s/;(]/)[0] ?? '';
  if (name === '*' || name === '' || !name.includes('*')) return name === token && token !== '*';
  const [head = '', ...rest] = name.slice(0, 64).split('*');
  if (!token.startsWith(head)) return false;
  let at = head.length;
  for (const part of rest.slice(0, -1)) {
    const found = token.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return token.slice(at).endsWith(rest.at(-1) ?? '');
}

function crawlDelayIn(value: string): number | null {
  const found = /^\+?(\d+(?:[.,]\d+)?|[.,]\d+)/.exec(value)?.[1];
  return found === undefined ? null : Math.min(Number(found.replace(',', '.')), MAX_CRAWL_DELAY_S);
}

/** Rules without a value are skipped; so are those that begin neither with `/` nor with `*`, which match no path. */
function preparedRules(lines: readonly RobotsLine[]): Rule[] {
  const rules: Rule[] = [];
  const seen = new Set<RobotsLine>();
  let wildcardChars = 0;
  for (const line of lines) {
    if (line.value === '' || seen.has(line)) continue;
    seen.add(line);
    const allowed = line.field === 'allow';
    let pattern = comparablePattern(line.value);
    if (pattern.includes('*')) {
      wildcardChars += pattern.length;
      if (wildcardChars > MAX_WILDCARD_CHARS) {
        // Cut, the rule matches more than it should, which only a disallow may.
        if (allowed) continue;
        pattern = pattern.slice(0, pattern.indexOf('*') + 1);
      }
    }
    if (!pattern.startsWith('/') && !pattern.startsWith('*')) continue;
    const decision = Object.freeze({
      allowed,
      rule: Object.freeze({ line: line.line, text: line.text.slice(0, 200) }),
    });
    rules.push({ decision, prepared: { allowed, pattern } });
  }
  return rules;
}

const sitemapsOf = (lines: readonly RobotsLine[]): string[] =>
  [...new Set(lines.filter((line) => line.field === 'sitemap' && line.value !== '').map((line) => line.value))].slice(
    0,
    MAX_SITEMAPS,
  );
