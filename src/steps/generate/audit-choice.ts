// steps/generate/: the fetch list: what is due, ranked and capped.
import { type AuditRecord, auditShareOf, NO_AUDITS } from '../../domain/crawl/headers/audit-share.ts';

/** Chooses the visits of a fetch list that are audits. */
export interface AuditChoice {
  /** Whether a visit that its headers could end is one. May be called once for each visit. */
  next(host: string): boolean;
}

/**
 * Audits by the records of the hosts in the list. Those chosen count as clean for the visits behind them, so that a
 * list of many pages has few: their result is known when all have been made.
 * @param most as in {@link auditShareOf}
 * @param random uniform in [0, 1)
 */
export function createAuditChoice(
  most: number,
  hosts: Readonly<Record<string, AuditRecord>>,
  random: () => number,
): AuditChoice {
  const chosen = new Map<string, number>();
  const all = { audits: 0, lies: 0 };
  for (const { audits, lies } of Object.values(hosts)) {
    all.audits += audits;
    all.lies += lies;
  }
  return {
    next(host) {
      const { audits, lies } = hosts[host] ?? NO_AUDITS;
      const planned = chosen.get(host) ?? 0;
      const own = { audits: audits + planned, lies };
      const others = { audits: all.audits - own.audits, lies: all.lies - lies };
      if (random() >= auditShareOf(most, own, others)) return false;
      chosen.set(host, planned + 1);
      all.audits++;
      return true;
    },
  };
}
