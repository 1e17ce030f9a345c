// domain/crawl/headers/: what headers tell before a body is transferred: the ladder of change.
/** Audits of one or more hosts: full fetches that check what headers say, and those that found them wrong. */
export interface AuditRecord {
  readonly audits: number;
  readonly lies: number;
}

export const NO_AUDITS: AuditRecord = Object.freeze({ audits: 0, lies: 0 });

/**
 * Belief that the headers of a host lie, before any audit: Beta(a, w - a). It is U-shaped, since servers are honest or
 * wrong throughout. One lie outweighs some twenty clean audits.
 */
const WEIGHT = 0.2;
const LIAR = 0.01;
/** Of the audits of other hosts each counts as this part of an own one, all together at most as so many. */
const OTHERS = 0.5;
const MOST_OTHERS = 10;
/** Least share, as a part of the largest: a server may be exchanged for one that lies. */
const LEAST = 0.02;

/**
 * Share of the visits to a host that transfer the page although its headers say "unchanged": the mean of the belief
 * that they lie, in proportion to that before any audit, where a missed change is worth `most` of a body. It falls as
 * 1 / audits with a clean record and rises again with a lie.
 *
 * @param most share without a record, and after a lie; 0 and 1 hold whatever the record
 * @param own the record of the host, visits included that are to be audits
 * @param others the record of the other hosts
 */
export function auditShareOf(most: number, own: AuditRecord, others: AuditRecord): number {
  if (most <= 0 || most >= 1) return most;
  const clean = Math.min(MOST_OTHERS, OTHERS * Math.max(0, others.audits - others.lies));
  const belief = (LIAR + own.lies) / (WEIGHT + own.audits + clean);
  return most * Math.min(1, Math.max(LEAST, (belief * WEIGHT) / LIAR));
}
