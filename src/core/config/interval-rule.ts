import type { IntervalRule } from '../domain/crawl/revisit/next-visit.ts';
import { typedDomain, typedHost } from '../domain/url/canonical/host-pattern.ts';
import { DURATION_EXAMPLES, parseDuration } from './units.ts';

/** An entry of `schedule.bounds`, such as `news.example.org 10m..1d`. Throws an `Error` that says what was expected. */
export function parseIntervalRule(entry: string): IntervalRule {
  const [of = '', range = ''] = entry.trim().split(/ +/);
  const [from = '', to = ''] = range.split('..');
  const minIntervalMs = from === '' ? null : durationOf(from);
  const maxIntervalMs = to === '' ? null : durationOf(to);
  if (minIntervalMs !== null && maxIntervalMs !== null && minIntervalMs > maxIntervalMs) {
    throw new Error(`expected a range from the shorter to the longer interval, got ${range}`);
  }
  return { of: subjectOf(of), minIntervalMs, maxIntervalMs };
}

/** In the spelling that records have: hosts of letters beyond ASCII as punycode. */
function subjectOf(text: string): string {
  if (text.includes('/')) return text.toLowerCase();
  const isDomain = text.startsWith('*.');
  const name = isDomain ? typedDomain(text.slice(2)) : typedHost(text);
  if (name === null) throw new Error(`expected a host, *.domain or MIME type, got ${text}`);
  return isDomain ? `*.${name}` : name;
}

function durationOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 1_000)
    throw new Error(`expected a duration of at least 1s, such as ${DURATION_EXAMPLES}, got ${text}`);
  return ms;
}
