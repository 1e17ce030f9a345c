import type { CrawlDb } from '../../ports/crawl-db.ts';

/** Earliest next turn of hosts, ms since the epoch. */
export type HostTurns = ReadonlyMap<string, number>;

/** Fact in the crawl db: hosts that must not be contacted before a time, and when that was noted. */
const TURNS = 'hostsResting';

/** Turns yet to come. Those noted before the clock was set back are left out: they would hold hosts up for too long. */
export async function openHostTurns(db: Pick<CrawlDb, 'meta'>, now: number): Promise<HostTurns> {
  const { at, turns } = await storedTurns(db);
  return at > now ? new Map() : new Map(turns.filter(([, until]) => until > now));
}

/** When each host may be asked, and when that was noted, by the clock of the process that did. */
export async function storedRests(
  db: Pick<CrawlDb, 'meta'>,
): Promise<ReadonlyMap<string, { readonly notedAt: number; readonly until: number }>> {
  const { at, turns } = await storedTurns(db);
  return new Map(turns.map(([host, until]) => [host, { notedAt: at, until }]));
}

async function storedTurns(db: Pick<CrawlDb, 'meta'>): Promise<{ at: number; turns: [string, number][] }> {
  const stored = parsed(await db.meta(TURNS));
  if (!isObject(stored) || typeof stored.at !== 'number' || !isObject(stored.until)) return { at: 0, turns: [] };
  const turns = Object.entries(stored.until);
  return { at: stored.at, turns: turns.filter((turn): turn is [string, number] => typeof turn[1] === 'number') };
}

/** The fact after further turns became known: of each host the latest, as far as they are yet to come. */
export function hostTurnFacts(
  known: HostTurns,
  further: Iterable<readonly [host: string, at: number]>,
  now: number,
): Readonly<Record<string, string>> {
  const turns = new Map(known);
  for (const [host, at] of further) turns.set(host, Math.max(at, turns.get(host) ?? at));
  const until = Object.fromEntries([...turns].filter(([, at]) => at > now));
  return { [TURNS]: JSON.stringify({ at: now, until }) };
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
