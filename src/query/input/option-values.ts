// query/input/: the values that people give with a question, validated.

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Override } from '../../core/config/override.ts';
import { DURATION_EXAMPLES, parseDuration } from '../../core/config/units.ts';
import { closestName } from '../../core/domain/closest-name.ts';
import { type FeedCursor, parseCursor } from '../../core/domain/crawl/change/change-feed.ts';
import { CHANGE_KINDS, type ChangeKind } from '../../core/domain/crawl/change/page-change.ts';
import { CRAWL_STATES, type CrawlState } from '../../core/domain/crawl/states/datum.ts';
import { SKIP_REASON_NAMES, type SkipReason } from '../../core/domain/crawl/states/skip-reasons.ts';
import { typedDomain, typedHost, typedUrlPrefix } from '../../core/domain/url/canonical/host-pattern.ts';

// Parsers of the values of options. Each throws an `InvalidArgumentError` that says what was expected.

/** A whole number in a range. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `${min} to ${max}`;
    throw new InvalidArgumentError(`Expected a whole number, ${range}.`);
  };
}

export function anyNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('Expected a number.');
}

/** A duration, in ms. */
export function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`Expected a duration such as ${DURATION_EXAMPLES}.`);
}

/** A point in time: ISO 8601, or an age (`2h`, `3d`). Ms since the epoch. */
export function moment(text: string): number {
  const ago = parseDuration(text.replace(/ ago$/, ''));
  if (ago !== undefined && /[a-z]/i.test(text)) return Date.now() - ago;
  const [day] = /^\d{4}-\d\d(?:-\d\d)?/.exec(text) ?? [];
  if (day !== undefined && isCalendarDay(day)) {
    const at = Date.parse(text);
    if (!Number.isNaN(at)) return at;
  }
  throw new InvalidArgumentError(
    'Expected a time such as 2026-03-01 or 2026-03-01T08:00Z, or an age such as 2h or 3d.',
  );
}

/** `Date.parse` reads 30 February as 2 March. */
function isCalendarDay(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** One of a closed set of names. A near miss gets a suggestion, any other value the `hint`. */
export function nameOf<Name extends string>(
  text: string,
  names: readonly Name[],
  expected = `one of ${names.join(', ')}`,
  hint = '',
): Name {
  const name = names.find((each) => each === text.trim());
  if (name !== undefined) return name;
  const guess = closestName(text, names);
  const advice = guess === undefined ? hint : `Did you mean ${guess}?`;
  throw new InvalidArgumentError(`Expected ${expected}.${advice === '' ? '' : ` ${advice}`}`);
}

export const crawlState = (text: string): CrawlState => nameOf(text, CRAWL_STATES);

/** States separated by commas. */
export const crawlStates = (text: string): CrawlState[] => text.split(',').map(crawlState);

/** Kinds of changes separated by commas. */
export const changeKinds = (text: string): ChangeKind[] => text.split(',').map((word) => nameOf(word, CHANGE_KINDS));

/** Reasons for skipping a URL separated by commas. */
export function skipReasons(text: string): SkipReason[] {
  const [expected, hint] = ['reasons such as robots-denied,dns-failed', '"incrawl help skips" lists them.'];
  return text.split(',').map((word) => nameOf(word, SKIP_REASON_NAMES, expected, hint));
}

/** After an entry number of the change feed, or from a time on, ms since the epoch. */
export type FeedStart = { readonly after: FeedCursor } | { readonly notedFrom: number };

/** Start position in the change feed. */
export function feedStart(text: string): FeedStart {
  const cursor = parseCursor(text);
  if (cursor !== null) return { after: cursor };
  if (text === 'yesterday') return { notedFrom: moment('1d') };
  try {
    return { notedFrom: moment(text) };
  } catch {
    throw new InvalidArgumentError(
      'Expected yesterday, a time such as 2026-03-01 or 2026-03-01T08:00Z, an age such as 2h or 3d, ' +
        'or a number or cursor of the change feed.',
    );
  }
}

/** Messages for invalid values, in options and in forms of the live view. */
export const HOST_EXPECTED = 'Expected a host such as www.example.org or www.example.org:8080.';
export const URL_PREFIX_EXPECTED =
  'Expected the beginning of a URL, with scheme and host, such as https://example.org/news/.';

/** A host, with its port if it is not the default: `www.example.org:8080`. */
export function hostName(text: string): string {
  const host = typedHost(text);
  if (host !== null) return host;
  throw new InvalidArgumentError(HOST_EXPECTED);
}

export function domainName(text: string): string {
  const domain = typedDomain(text);
  if (domain !== null) return domain;
  throw new InvalidArgumentError('Expected a domain such as example.org.');
}

export function urlPrefix(text: string): string {
  const prefix = typedUrlPrefix(text);
  if (prefix !== null) return prefix;
  throw new InvalidArgumentError(URL_PREFIX_EXPECTED);
}

/** Names separated by commas. */
export function collectList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => name !== '')) return names;
  throw new InvalidArgumentError('Expected names separated by commas.');
}

/** For options that may be given several times. */
export function collect(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/** `--format` of commands that print lists. */
export const listFormatOption = (): Option =>
  new Option('--format <format>', 'of lists; --json prints one JSON array').choices(['table', 'jsonl', 'csv']);

/** `--scope` of commands that compare pages. */
export const scopeOption = (): Option =>
  new Option('--scope <scope>', 'compare pages within this scope; default: dedup.scope').choices([
    'host',
    'domain',
    'all',
  ]);

/** Short options for the settings that a first crawl needs. */
export function addNetworkOptions(command: Command): Command {
  return command
    .option('--delay <duration>', 'pause between requests to a host; 0 for your own servers (fetch.delay)')
    .addOption(
      new Option(
        '--allow <address>',
        'let the crawler reach this private address: host, host:port, IP, CIDR; repeatable',
      ).argParser(collect),
    )
    .option('--contact <mail-or-url>', 'how site owners reach you; sent with every request (agent.contact)');
}

/** The settings behind the options of {@link addNetworkOptions}, `--pause` of crawl and `--requisites` of mirror. */
export function settingOverrides(options: {
  readonly delay?: string;
  readonly allow?: readonly string[];
  readonly contact?: string;
  readonly pause?: string;
  readonly requisites?: string;
}): Override[] {
  const overrides: Override[] = [];
  const add = (key: string, value: unknown, origin: string): void => {
    if (value !== undefined) overrides.push({ key, value, origin });
  };
  add('fetch.delay', options.delay, '--delay');
  add('http.allowAddresses', options.allow, '--allow');
  add('agent.contact', options.contact, '--contact');
  add('crawl.pause', options.pause, '--pause');
  add('fetch.requisites', options.requisites, '--requisites');
  return overrides;
}
