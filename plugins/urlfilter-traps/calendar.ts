/** `/2031/05/` and `/2031/05/17/`; a year alone may be anything. */
const PATH_DATE = /\/((?:1|2)\d{3})\/(?:0?[1-9]|1[0-2])(?=\/|$)/;

/** `/2031-05/`, `/2031-05-17/` as a segment of its own. */
const PATH_ISO_DATE = /\/((?:1|2)\d{3})-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?(?=\/|$)/;

/** Parameters that page through a calendar, with the year that their value begins with. */
const QUERY_DATE =
  /(?:^|&)(?:[\w-]*[_-])?(?:year|yr|month|date|day|week|cal|calendar|from|to|start|end)=((?:1|2)\d{3})(?:$|&|-\d\d?(?:-\d\d?)?(?:$|&))/i;

/** The year of the date that a path or query names as calendars do; `null` without one. */
export function yearOf(path: string, query: string): number | null {
  const found = PATH_DATE.exec(path) ?? PATH_ISO_DATE.exec(path) ?? (query === '' ? null : QUERY_DATE.exec(query));
  return found === null ? null : Number(found[1]);
}
