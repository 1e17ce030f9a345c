/** Bounds of the revisit interval that the operator set for some pages, ms; `null`: the general bound. */
export interface OwnBounds {
  readonly minIntervalMs: number | null;
  readonly maxIntervalMs: number | null;
}

/** Bounds of the revisit interval of some pages. */
export interface IntervalRule extends OwnBounds {
  /**
   * Host (`example.org`, `example.org:8080`), a domain and all below it (`*.example.org`), or MIME type (`text/html`,
   * `image/*`).
   */
  readonly of: string;
}

export interface IntervalBounds {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
}

/** The bounds of a page. The first matching rule decides, so special rules stand before general ones. */
export function boundsOf(
  rules: readonly IntervalRule[],
  general: IntervalBounds,
  page: { readonly host: string; readonly contentType: string | null },
): IntervalBounds {
  const type = page.contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const rule = rules.find((each) => (isOfType(each) ? fitsType(each.of, type) : fitsHost(each.of, page.host)));
  return rule === undefined ? general : boundsBy(rule, general);
}

/** Whether a rule is for a MIME type rather than a host. */
export const isOfType = ({ of }: IntervalRule): boolean => of.includes('/');

/** The loosest bounds of all rules, for a schedule, which does not know the page. */
export function widestBounds(rules: readonly OwnBounds[], general: IntervalBounds): IntervalBounds {
  const all = [general, ...rules.map((rule) => boundsBy(rule, general))];
  return {
    minIntervalMs: Math.min(...all.map(({ minIntervalMs }) => minIntervalMs)),
    maxIntervalMs: Math.max(...all.map(({ maxIntervalMs }) => maxIntervalMs)),
  };
}

/** The bounds of a rule; where it has one alone, the general other one as far as it fits. */
export function boundsBy(rule: OwnBounds, general: IntervalBounds): IntervalBounds {
  const minIntervalMs =
    rule.minIntervalMs ?? Math.min(general.minIntervalMs, rule.maxIntervalMs ?? general.minIntervalMs);
  return { minIntervalMs, maxIntervalMs: rule.maxIntervalMs ?? Math.max(general.maxIntervalMs, minIntervalMs) };
}

function fitsType(of: string, type: string): boolean {
  return of.endsWith('/*') ? type.startsWith(of.slice(0, -1)) : type === of;
}

function fitsHost(of: string, host: string): boolean {
  if (of.startsWith('*.')) {
    const name = host.replace(/:\d+$/, '');
    return name === of.slice(2) || name.endsWith(of.slice(1));
  }
  return host === of || host.replace(/:\d+$/, '') === of;
}
