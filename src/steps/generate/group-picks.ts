import type { DueEntry } from '../../ports/crawl-db.ts';

/** A page that is due by the clock of its group. */
export interface GroupPick {
  readonly entry: DueEntry;
  readonly host: string;
  readonly group: number;
  readonly rank: number;
}

interface OpenGroup {
  readonly allowed: number;
  readonly picks: GroupPick[];
}

/** Chooses among the pages of each group: of the first ones in the order of the index those of the highest rank. */
export class GroupPicks {
  /** Picks kept so far. */
  kept = 0;
  readonly #window: number;
  readonly #allowedOf: (host: string, group: number) => number;
  readonly #groups = new Map<string, OpenGroup>();
  /** Groups with pages that are due in this round, chosen or not. */
  readonly #due = new Set<string>();
  /** Groups that have had their choice. */
  readonly #taken = new Set<string>();

  /** @param allowedOf pages that a group gives to a round */
  constructor(window: number, allowedOf: (host: string, group: number) => number) {
    this.#window = window;
    this.#allowedOf = allowedOf;
  }

  add(pick: GroupPick): void {
    const key = keyOf(pick.host, pick.group);
    this.#due.add(key);
    if (this.#taken.has(key)) return;
    const group = this.#groups.get(key) ?? { allowed: this.#allowedOf(pick.host, pick.group), picks: [] };
    this.#groups.set(key, group);
    if (group.picks.length >= Math.max(this.#window, 2 * group.allowed)) return;
    group.picks.push(pick);
    this.kept++;
  }

  /** A page of the group is due whatever the group says. */
  noteDue(host: string, group: number): void {
    this.#due.add(keyOf(host, group));
  }

  isDue(host: string, group: number): boolean {
    return this.#due.has(keyOf(host, group));
  }

  /** Pages that the group may still give. */
  placesOf(host: string, group: number): number {
    const key = keyOf(host, group);
    return this.#taken.has(key) ? 0 : (this.#groups.get(key)?.allowed ?? this.#allowedOf(host, group));
  }

  *take(): Generator<DueEntry> {
    for (const [key, { allowed, picks }] of this.#groups) {
      this.#taken.add(key);
      const best = picks.sort((a, b) => b.rank - a.rank).slice(0, allowed);
      for (const { entry } of best) yield entry;
    }
    this.#groups.clear();
    this.kept = 0;
  }
}

const keyOf = (host: string, group: number): string => `${group} ${host}`;
