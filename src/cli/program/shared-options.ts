import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Override } from '../../config/override.ts';
import { DURATION_EXAMPLES, parseDuration } from '../../config/units.ts';
import { closestName } from '../../domain/closest-name.ts';
import { CRAWL_STATES, type CrawlState } from '../../domain/crawl/states/datum.ts';
import { typedDomain, typedHost, typedUrlPrefix } from '../../domain/url/canonical/typed-url.ts';

/** Parser of an option's value: a whole number. */
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

/** A point in time: ISO 8601, or how long ago (`2h`, `3d`). Ms since the epoch. */
export function moment(text: string): number {
  const ago = parseDuration(text.replace(/ ago$/, ''));
  if (ago !== undefined && /[a-z]/i.test(text)) return Date.now() - ago;
  const [day] = /^\d{4}-\d\d(?:-\d\d)?/.exec(text) ?? [];
  if (day !== undefined && isCalendarDay(day)) {
    const at = Date.parse(text);
    if (!Number.isNaN(at)) return at;
  }
  throw new InvalidArgumentError(
    'Expected a time such as 2026-03-01 or 2026-03-01T08:00Z, or how long ago such as 2h or 3d.',
  );
}

/** `Date.parse` takes 30 February for 2 March. */
function isCalendarDay(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

export function crawlState(text: string): CrawlState {
  const state = CRAWL_STATES.find((each) => each === text.trim());
  if (state !== undefined) return state;
  const guess = closestName(text, CRAWL_STATES);
  const hint = guess === undefined ? '' : ` Did you mean ${guess}?`;
  throw new InvalidArgumentError(`Expected one of ${CRAWL_STATES.join(', ')}.${hint}`);
}

/** States separated by commas. */
export function crawlStates(text: string): CrawlState[] {
  return text.split(',').map(crawlState);
}

/** What the options say of a wrong value; the live view says the same of its form. */
export const HOST_EXPECTED = 'Expected a host such as www.example.org or www.example.org:8080.';
export const URL_PREFIX_EXPECTED =
  'Expected the beginning of a URL, with scheme and host, such as https://example.org/news/.';

/** A host, with its port where that is not the default: `www.example.org:8080`. */
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

/** Shorthand for the settings that a first crawl needs. */
export function addNetworkOptions(command: Command): Command {
  return command
    .option('--delay <duration>', 'pause between requests to a host; 0 for servers of your own (fetch.delay)')
    .addOption(
      new Option(
        '--allow <address>',
        'let this private address through the guard: host, host:port, IP, CIDR; repeatable',
      ).argParser(collect),
    )
    .option('--contact <mail-or-url>', 'where site owners reach you, sent with every request (agent.contact)');
}

/** The settings that {@link addNetworkOptions} stand for. */
export function networkOverrides(options: {
  readonly delay?: string;
  readonly allow?: readonly string[];
  readonly contact?: string;
}): Override[] {
  const overrides: Override[] = [];
  const add = (key: string, value: unknown, origin: string): void => {
    if (value !== undefined) overrides.push({ key, value, origin });
  };
  add('fetch.delay', options.delay, '--delay');
  add('http.allowAddresses', options.allow, '--allow');
  add('agent.contact', options.contact, '--contact');
  return overrides;
}
