import { createRequire } from 'node:module';
import { closestName } from '../../core/domain/closest-name.ts';

/**
 * One spelling for paths and rules, so that the matcher may compare character by character (RFC 9309 section 2.2.2):
 * octets that need no encoding are decoded, all others are encoded, and hexadecimal digits are upper case. `*` and `$`
 * are metacharacters in rules; as literal characters they are written `%2A` and `%24`.
 */

/**
 * Unreserved characters, and reserved ones that URLs contain unencoded. All others are compared in encoded form.
 */
const AS_IS = /^[A-Za-z0-9\-._~!()*+,/:;=?@&$]*$/;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const TO_ENCODE = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!()*+,/:;=?@&$%]/gu;

/** Maximum length of a URL that is matched: an attacker's rules cost work in proportion to it. */
const MAX_URL_LENGTH = 2048;

/** Path and query of a URL in the spelling that the matcher compares. */
export function comparablePath(pathAndQuery: string): string {
  const fragment = pathAndQuery.indexOf('#');
  const path = (fragment === -1 ? pathAndQuery : pathAndQuery.slice(0, fragment)).slice(0, MAX_URL_LENGTH);
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return literal(oneSpelling(rooted));
}

/** Pattern of a rule in the spelling that the matcher compares; a run of `*` is the same as a single one. */
export function comparablePattern(pattern: string): string {
  const isAnchored = pattern.endsWith('$');
  const spelled = oneSpelling(isAnchored ? pattern.slice(0, -1) : pattern)
    .replaceAll('$', '%24')
    .replace(/\*{2,}/g, '*');
  return isAnchored ? `${spelled}$` : spelled;
}

const literal = (path: string): string =>
  path.includes('*') || path.includes('$') ? path.replaceAll('*', '%2A').replaceAll('$', '%24') : path;

function oneSpelling(text: string): string {
  if (AS_IS.test(text)) return text;
  return text.replace(TO_ENCODE, (part) => {
    if (part.startsWith('%')) {
      const char = String.fromCharCode(Number.parseInt(part.slice(1), 16));
      return UNRESERVED.test(char) ? char : part.toUpperCase();
    }
    return percentEncoded(part);
  });
}

/**
 * Encodes one character outside the set above. `encodeURIComponent` leaves an apostrophe as it is and throws on half a
 * surrogate pair.
 */
const percentEncoded = (char: string): string =>
  char === "'" ? '%27' : encodeURIComponent(char.replace(/\p{Surrogate}/u, '\uFFFD'));

/** The part of robots-parser that is used: the rule that decides on a path. */
export interface RuleMatcher {
  /** Line of the deciding rule, counted from 1; -1 if no rule matches. */
  getMatchingLineNumber(url: string, agent: string): number;
}

// Its type declarations promise a default export that CommonJS does not provide under `nodenext`; only this file
// depends on that.
const robotsParser = createRequire(import.meta.url)('robots-parser') as (url: string, text: string) => RuleMatcher;

/** Any origin will do, because rules and paths are prepared. */
const ORIGIN = 'http://robots.invalid';
/**
 * Characters of a pattern times characters of a path, up to which robots-parser has the last word. Its work for one
 * rule is this product; 100,000 take some 0.2 ms.
 */
const MAX_PRODUCT = 100_000;

/** A rule in the spelling of `robots-path.ts`. */
interface PreparedRule {
  readonly allowed: boolean;
  readonly pattern: string;
}

interface Candidate {
  readonly index: number;
  readonly rule: PreparedRule;
  /** The text between the wildcards. */
  readonly pieces: readonly string[];
  readonly isAnchored: boolean;
  /** Made when the rule first decides. */
  parser: RuleMatcher | null;
}

/**
 * Matching of RFC 9309 section 2.2.2: the longest rule wins, `allow` wins a tie, `*` and `$` are special. Returns the
 * index of the deciding rule, of equal ones the first; -1 for none.
 *
 * Rules are tried in their order of precedence, by the pieces between their wildcards, in time linear in the path per
 * rule; robots-parser judges the first that fits.
 */
export function createRuleMatcher(rules: readonly PreparedRule[]): (path: string) => number {
  const candidates = rules
    .map((rule, index) => candidateOf(rule, index))
    .sort((a, b) => b.rule.pattern.length - a.rule.pattern.length || Number(b.rule.allowed) - Number(a.rule.allowed));
  return (path) => candidates.find((candidate) => fits(candidate, path) && isConfirmed(candidate, path))?.index ?? -1;
}

function candidateOf(rule: PreparedRule, index: number): Candidate {
  const isAnchored = rule.pattern.endsWith('$');
  const pieces = (isAnchored ? rule.pattern.slice(0, -1) : rule.pattern).split('*');
  return { index, rule, pieces, isAnchored, parser: null };
}

/**
 * The first piece is a prefix. Each later piece is matched at its first occurrence, which leaves most of the path to
 * the rest.
 */
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

/** A field of robots.txt. */
type RobotsField = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap';

interface RobotsLine {
  readonly field: RobotsField;
  readonly value: string;
  /** Counted from 1. */
  readonly line: number;
  /** As written, without comment and surrounding white space. */
  readonly text: string;
}

/** Maximum size parsed, bytes (RFC 9309 section 2.5). */
export const MAX_ROBOTS_BYTES = 500 * 1024;

const FIELDS: Readonly<Record<string, RobotsField>> = {
  useragent: 'user-agent',
  allow: 'allow',
  disallow: 'disallow',
  crawldelay: 'crawl-delay',
  sitemap: 'sitemap',
};
/** Names that are recognised even with a typing error. Never `allow`: a wrong guess there would open a site. */
const GUESSED = ['useragent', 'disallow'];
/** `user agent`, `Crawl_Delay`: the words of a name sometimes have another separator. */
const WITH_COLON = /^([a-z][a-z _-]{2,20}?)\s*:(.*)$/is;
const WITHOUT_COLON = /^(user agent|[a-z][a-z_-]{2,20})\s+(\S.*)$/is;
/** A tag at the end of a line, as in files made by HTML editors. */
const TRAILING_TAG = /<\/?[a-z]+\s*\/?>$/i;
/** Longer lines are cut: no URL that is matched is this long. */
const MAX_LINE_LENGTH = 16_384;
/** Comparisons of misspelt names per file. */
const MAX_GUESSES = 1000;

/** The lines with a known field, in order. Unknown fields, comments and HTML are skipped. */
export function robotsLines(text: string): RobotsLine[] {
  const lines: RobotsLine[] = [];
  const guesses = { left: MAX_GUESSES };
  const raw = withinLimit(text.replace(/^\uFEFF/, '')).split(/\r\n|\r|\n/);
  for (const [index, written] of raw.entries()) {
    const line = withoutComment(written);
    const read = fieldAndValue(line, guesses);
    if (read !== null) lines.push({ ...read, line: index + 1, text: line });
  }
  return lines;
}

const withinLimit = (text: string): string =>
  text.length <= MAX_ROBOTS_BYTES ? text : withoutTornLine(text.slice(0, MAX_ROBOTS_BYTES));

/** A cut text without its last, incomplete line: a truncated rule would match more than it should. */
export function withoutTornLine(text: string): string {
  return text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

function withoutComment(line: string): string {
  const comment = line.indexOf('#');
  return line.slice(0, comment === -1 ? MAX_LINE_LENGTH : Math.min(comment, MAX_LINE_LENGTH)).trim();
}

function fieldAndValue(line: string, guesses: { left: number }): Pick<RobotsLine, 'field' | 'value'> | null {
  const found = WITH_COLON.exec(line) ?? WITHOUT_COLON.exec(line);
  if (found === null) return null;
  const field = fieldNamed(found[1] ?? '', guesses);
  return field === null ? null : { field, value: withoutTags((found[2] ?? '').trim()) };
}

function withoutTags(value: string): string {
  let text = value;
  for (let i = 0; i < 4 && text.endsWith('>'); i++) text = text.replace(TRAILING_TAG, '').trimEnd();
  return text;
}

function fieldNamed(name: string, guesses: { left: number }): RobotsField | null {
  const key = name.toLowerCase().replace(/[ _-]/g, '');
  const field = FIELDS[key];
  if (field !== undefined) return field;
  if (key.length < 7 || key.length > 11 || guesses.left-- <= 0) return null;
  const meant = closestName(key, GUESSED);
  return meant === undefined || meant[0] !== key[0] ? null : (FIELDS[meant] ?? null);
}

/** The rules of one robots.txt for one crawler. */
interface ParsedRobots {
  /** Verdict on a path with its query, beginning with `/`. */
  decide(pathAndQuery: string): RobotsDecision;
  /** Crawl-delay in seconds, at most a day; `null` if there is no valid one. */
  readonly crawlDelay: number | null;
  /** As written; each once. */
  readonly sitemaps: readonly string[];
}

export interface RobotsDecision {
  readonly allowed: boolean;
  /** The rule that decided, as written; `null` if none did. */
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
 * Limit for the characters of all rules with `*` together. Rules beyond it are cut at their first `*`: each costs work
 * for every URL.
 */
const MAX_WILDCARD_CHARS = 32 * 1024;
const ALLOWED: RobotsDecision = Object.freeze({ allowed: true, rule: null });

/**
 * Parses robots.txt according to RFC 9309 for the crawler with this product token. Selects the groups of the token, and
 * rewrites their rules in one spelling, in which they are matched. Never throws: invalid lines are skipped.
 */
export function parseRobots(text: string, productToken: string): ParsedRobots {
  const lines = robotsLines(text);
  const groups = groupsFor(lines, productToken);
  const rules = preparedRules(groups.flatMap((group) => group.rules));
  const delays = groups.flatMap((group) => group.crawlDelay ?? []);
  const match = rules.length === 0 ? null : createRuleMatcher(rules.map((rule) => rule.prepared));
  return {
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
 * first agent belong to no group. A delay belongs to the agents since the previous delay or, after rules, to the whole
 * group. That is why one group may be returned as several with the same rules.
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
 * inside it, as in `foo*bot`, matches any characters, though no standard says so.
 */
function namesToken(agent: string, token: string): boolean {
  const name = agent.split(/[\s/;(]/)[0] ?? '';
  if (name === '*') return false;
  if (!name.includes('*')) return name === token;
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

/** Rules that begin with neither `/` nor `*` match no path, and are skipped; so are those without a value. */
function preparedRules(lines: readonly RobotsLine[]): Rule[] {
  const rules: Rule[] = [];
  const seen = new Set<RobotsLine>();
  let wildcardChars = 0;
  for (const line of lines) {
    if (seen.has(line)) continue;
    seen.add(line);
    const allowed = line.field === 'allow';
    let pattern = comparablePattern(line.value);
    if (pattern.includes('*')) {
      wildcardChars += pattern.length;
      if (wildcardChars > MAX_WILDCARD_CHARS) {
        // A cut rule matches more than it should, which is acceptable only for a disallow.
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
