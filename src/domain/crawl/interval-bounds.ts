/** Bounds of the time to the next visit for some pages. Durations in ms. */
export interface IntervalRule {
  /** Host (`example.org`, `example.org:8080`), a domain and all below it (`*.example.org`), or MIME type (`text/html`, `image/*`). */
  readonly of: string;
  /** `null`: as for all pages. */
  readonly minIntervalMs: number | null;
  readonly maxIntervalMs: number | null;
}

export interface IntervalBounds {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
}

/** Finds the bounds of a page. The first rule that fits decides, so special ones stand before general ones. */
export function boundsOf(
  rules: readonly IntervalRule[],
  general: IntervalBounds,
  page: { readonly host: string; readonly contentType: string | null },
): IntervalBounds {
  const type = page.contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const rule = rules.find(({ of }) => (of.includes('/') ? fitsType(of, type) : fitsHost(of, page.host)));
  if (rule === undefined) return general;
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
