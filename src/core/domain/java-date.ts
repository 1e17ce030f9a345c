/** Hours ahead of UTC, for names of one offset alone. CST is Chicago and Shanghai, PST Los Angeles and Manila. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['Z', 0],
  ['WEST', 1],
  ['CET', 1],
  ['CEST', 2],
  ['EET', 2],
  ['EEST', 3],
  ['MSK', 3],
  ['JST', 9],
  ['KST', 9],
  ['EST', -5],
  ['EDT', -4],
  ['CDT', -5],
  ['MST', -7],
  ['MDT', -6],
  ['PDT', -7],
]);

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DATE = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{2}) (\d{2}):(\d{2}):(\d{2}) (\S+) (\d{4,})$/;
const OFFSET = /^GMT([+-])(\d{1,2}):(\d{2})$/;

/**
 * A time as `java.util.Date.toString` writes it (`Sun Jan 03 12:59:33 UTC 2027`), ms since the epoch; `null` for any
 * other text, and for a zone whose name has several offsets.
 */
export function parseJavaDate(text: string): number | null {
  const [whole, name = '', day, hour, minute, second, zone = '', year] = DATE.exec(text) ?? [];
  const [month, offset] = [MONTHS.indexOf(name), offsetMinutes(zone)];
  if (whole === undefined || month < 0 || offset === null) return null;
  const at = Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second));
  return at - offset * 60_000;
}

function offsetMinutes(zone: string): number | null {
  const [whole, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (whole !== undefined) return (sign === '-' ? -1 : 1) * (60 * Number(hours) + Number(minutes));
  const ahead = ZONES.get(zone);
  return ahead === undefined ? null : 60 * ahead;
}
