/**
 * A date of a sitemap or feed, ms since the epoch; `null` if it is invalid. Reads W3C datetime (a
 * profile of ISO 8601, also shortened to a month or year) and RFC 822 / 2822 as feeds write it: weekday wrong or
 * missing, two-digit years, zone missing. A missing zone is UTC, a missing time midnight.
 */
export function parseFeedDate(text: string): number | null {
  const trimmed = text.trim();
  return trimmed.length > 64 ? null : (parseW3cDatetime(trimmed) ?? parseRfc822Date(trimmed));
}

const W3C =
  /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:(?:T| +)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|UTC|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?)?)?$/i;

function parseW3cDatetime(text: string): number | null {
  const match = W3C.exec(text);
  if (match === null) return null;
  const [, year, month = '1', day = '1', hour = '0', minute = '0', second = '0', fraction = '0', zone = 'Z'] = match;
  const ms = Math.floor(Number(`0.${fraction}`) * 1000);
  return moment(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second), ms, zone);
}

const RFC_822 =
  /^(?:[a-z]{2,9}\.?,?\s*)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*\.?[\s-]+(\d{4}|\d{2})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([a-z]{1,5}|[+-]\d{1,2}:?\d{2})?)?(?:\s*\([^)]*\))?$/i;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

function parseRfc822Date(text: string): number | null {
  const match = RFC_822.exec(text);
  if (match === null) return null;
  const [, day, monthName = '', yearText = '', hour = '0', minute = '0', second = '0', zone = 'Z'] = match;
  const month = MONTHS.indexOf(monthName.toLowerCase()) + 1;
  const year = Number(yearText);
  // RFC 2822 section 4.3.
  const fullYear = yearText.length === 4 ? year : year < 50 ? 2000 + year : 1900 + year;
  return moment(fullYear, month, Number(day), Number(hour), Number(minute), Number(second), 0, zone);
}

function moment(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  ms: number,
  zone: string,
): number | null {
  if (month < 1 || month > 12 || day < 1 || hour > 24 || minute > 59 || second > 60) return null;
  if (hour === 24 && minute + second + ms > 0) return null;
  const midnight = new Date(Date.UTC(2000, month - 1, day));
  midnight.setUTCFullYear(year, month - 1, day);
  if (midnight.getUTCDate() !== day) return null;
  // A leap second counts as the one before.
  const inDay = ((hour * 60 + minute) * 60 + Math.min(second, 59)) * 1000 + ms;
  return midnight.getTime() + inDay - zoneMinutes(zone) * 60_000;
}

const ZONES: ReadonlyMap<string, number> = new Map([
  ['EST', -300],
  ['EDT', -240],
  ['CST', -360],
  ['CDT', -300],
  ['MST', -420],
  ['MDT', -360],
  ['PST', -480],
  ['PDT', -420],
  ['WEST', 60],
  ['BST', 60],
  ['CET', 60],
  ['CEST', 120],
  ['EET', 120],
  ['EEST', 180],
  ['MSK', 180],
  ['JST', 540],
]);

/** Minutes east of Greenwich; unknown and military zones count as UTC (RFC 2822 section 4.3). */
function zoneMinutes(zone: string): number {
  const offset = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone);
  if (offset === null) return ZONES.get(zone.toUpperCase()) ?? 0;
  const [, sign, hours, minutes = '0'] = offset;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
