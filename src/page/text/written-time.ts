/** First letters of months, as many as distinguish them, in languages of many pages. */
const MONTHS: readonly string[] = [
  'jan|ene|gen|янв|sty|led|sau|tam|ιαν|ocak|janv|styc|ledn|oca|siječ',
  'feb|fev|fév|фев|lut|úno|φεβ|şub|helm|velj',
  'mar|mär|mrt|мар|břez|μαρ|maa|ožuj|mrz',
  'apr|abr|avr|апр|kwi|dub|απρ|nis|huh|trav',
  'may|mai|mag|mei|мая|май|maj|květ|μαΐ|μάι|toukok|svib',
  'jun|juin|giu|июн|cze|červen|červn|ιουν|haz|kesäk|lip',
  'jul|juil|lug|июл|červenec|července|ιουλ|tem|heinä|srp',
  'aug|ago|aoû|авг|sie|srpen|srpna|αυγ|ağu|elok|kolov',
  'sep|set|сен|wrz|září|σεπ|eyl|syysk|ruj',
  'oct|okt|out|ott|окт|paź|říj|οκτ|eki|lokak|listopada',
  'nov|ноя|lis|listopad|νοε|kas|marrask|stud',
  'dec|dez|dic|déc|дек|gru|pro|δεκ|ara|jouluk|pros',
];

const MONTH_OF: readonly (readonly [start: string, month: number])[] = MONTHS.flatMap((starts, month) =>
  starts.split('|').map((start) => [start, month + 1] as const),
).sort(([a], [b]) => b.length - a.length);

function monthNamed(name: string): number {
  const lower = name.toLowerCase();
  return MONTH_OF.find(([start]) => lower.startsWith(start))?.[1] ?? 0;
}

/** Minutes east of Greenwich. Abbreviations used for several zones are left out. */
const ZONES: Readonly<Record<string, number>> = {
  z: 0,
  utc: 0,
  gmt: 0,
  bst: 60,
  cet: 60,
  mez: 60,
  cest: 120,
  mesz: 120,
  eet: 120,
  eest: 180,
  msk: 180,
  jst: 540,
  kst: 540,
  aest: 600,
  aedt: 660,
  est: -300,
  edt: -240,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
};

const CLOCK =
  '(?:[T,\\s]|\\s(?:um|at|à|o|kl\\.?|klo|в|-|\\u2013|\\|)\\s)*(\\d{1,2})[:.h](\\d{2})(?:[:.](\\d{2})(?:[.,]\\d{1,9})?)?(?:\\s*([ap])\\.?m\\b\\.?)?(?:\\s*(?:\\(?([a-z]{1,4})\\)?(?![a-z])|([+-])(\\d{2}):?(\\d{2})?))?';
const YEAR_FIRST = new RegExp(
  `^(\\d{4})\\s?[-/.\\u5e74\\ub144]\\s?(\\d{1,2})\\s?[-/.\\u6708\\uc6d4]\\s?(\\d{1,2})(?:[\\u65e5\\uc77c.])?(?!\\d)(?:${CLOCK})?`,
  'iu',
);
const COMPACT = /^(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})?Z?)?$/;
const DAY_FIRST = new RegExp(`^(\\d{1,2})([./-])(\\d{1,2})\\2(\\d{4})(?!\\d)(?:${CLOCK})?`, 'iu');
const NAMED_DAY_FIRST = new RegExp(
  `^(?:\\p{L}+\\.?,?\\s+(?:de\\s+|den\\s+|the\\s+)?)?(\\d{1,2})(?:st|nd|rd|th|er|[.\\u00ba])?[\\s-](?:de\\s)?(\\p{L}{3,12})\\.?(?:\\sde)?,?[\\s-](\\d{4})(?!\\d)(?:${CLOCK})?`,
  'iu',
);
const NAMED_MONTH_FIRST = new RegExp(
  `^(?:\\p{L}+\\.?,\\s+|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\\s+)?(\\p{L}{3,12})\\.?\\s(\\d{1,2})(?:st|nd|rd|th)?,?\\s(\\d{4})(?!\\d)(?:${CLOCK})?`,
  'iu',
);
/** The format that most pages write; engines parse it fastest. */
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const EPOCH = /^(?:\d{10}|\d{13})$/;
const LONGEST = 100;
const LAST = 253_402_300_800_000;

/**
 * A date or time as pages write it: ISO 8601, HTTP and e-mail dates, days with the names of months, `31.12.2024`,
 * `2024年12月31日`, seconds or milliseconds since 1970. Other words may follow it. Milliseconds since the epoch; without a
 * zone it counts as UTC. `null` for any other text, for a day that does not exist, and for `3/4/2024`, whose order is
 * unknown.
 */
export function writtenTime(written: string): number | null {
  const text = written.slice(0, LONGEST).trim();
  if (ISO.test(text)) return within(Date.parse(text));
  if (!/\d{4}/.test(text)) return null;
  if (EPOCH.test(text)) return within(Number(text) * (text.length === 10 ? 1_000 : 1));
  const compact = COMPACT.exec(text);
  if (compact !== null) {
    const [, year, month, day, hour = '0', minute = '0', second = '0'] = compact;
    return timeOf([year, month, day].map(Number), [hour, minute, second]);
  }
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst !== null) return timeOf(yearFirst.slice(1, 4).map(Number), yearFirst.slice(4));
  const dayFirst = DAY_FIRST.exec(text);
  if (dayFirst !== null) {
    const [one, other, year] = [Number(dayFirst[1]), Number(dayFirst[3]), Number(dayFirst[4])];
    if (dayFirst[2] !== '.' && one <= 12 && other <= 12 && one !== other) return null;
    const isMonthFirst = dayFirst[2] !== '.' && other > 12;
    return timeOf(isMonthFirst ? [year, one, other] : [year, other, one], dayFirst.slice(5));
  }
  const named = NAMED_DAY_FIRST.exec(text);
  if (named !== null) {
    const month = monthNamed(named[2]!);
    if (month > 0) return timeOf([Number(named[3]), month, Number(named[1])], named.slice(4));
  }
  const monthFirst = NAMED_MONTH_FIRST.exec(text);
  if (monthFirst === null) return null;
  const month = monthNamed(monthFirst[1]!);
  return month === 0 ? null : timeOf([Number(monthFirst[3]), month, Number(monthFirst[2])], monthFirst.slice(4));
}

/** @param clock hour, minute, second, `a` or `p`, name of the zone, its sign, hours and minutes; each may be absent */
function timeOf(day: readonly number[], clock: readonly (string | undefined)[]): number | null {
  const [year = 0, month = 0, date = 0] = day;
  const midnight = Date.UTC(year, month - 1, date);
  const parsed = new Date(midnight);
  if (year < 1970 || parsed.getUTCMonth() !== month - 1 || parsed.getUTCDate() !== date) return null;
  const [hours, minutes = '0', seconds = '0', half, zone, sign, zoneHours = '0', zoneMinutes = '0'] = clock;
  if (hours === undefined) return within(midnight);
  const onDial = Number(hours) % (half === undefined ? 24 : 12);
  const hour = onDial + (half?.toLowerCase() === 'p' ? 12 : 0);
  if (Number(hours) > 24 || Number(minutes) > 59 || Number(seconds) > 60) return within(midnight);
  const east =
    sign === undefined
      ? (ZONES[zone?.toLowerCase() ?? ''] ?? 0)
      : (sign === '-' ? -1 : 1) * (60 * Number(zoneHours) + Number(zoneMinutes));
  return within(midnight + 1_000 * (60 * (60 * hour + Number(minutes) - east) + Number(seconds)));
}

const within = (at: number): number | null => (at >= 0 && at < LAST ? at : null);

/**
 * A date or time on a page as ISO 8601 in UTC; `null` if it is unreadable, has no year, or lies outside 1970 to 9999.
 * Without a zone it counts as UTC.
 */
export function statedTime(written: string | null): string | null {
  const at = written === null ? null : writtenTime(written);
  return at === null ? null : new Date(at).toISOString();
}
