import type { DomainFamilies, StoredFamily } from '../../core/domain/url/families/stored-families.ts';

/** Merges the families of one domain that several partitions keep: of those with the same leader the newest counts. */
export function joinedFamilies(all: readonly DomainFamilies[]): DomainFamilies | undefined {
  const [first, ...rest] = [...all].sort((a, b) => b.appliedAt - a.appliedAt);
  if (first === undefined || rest.length === 0) return first;
  const families = new Map<string, StoredFamily>();
  for (const each of [first, ...rest]) {
    for (const family of each.families) if (!families.has(family.leader)) families.set(family.leader, family);
  }
  return { ...first, families: [...families.values()] };
}

/** The same for rows in the order of their domains. */
export async function* joinedByDomain(
  rows: AsyncIterable<DomainFamilies>,
): AsyncGenerator<DomainFamilies, void, undefined> {
  let same: DomainFamilies[] = [];
  for await (const row of rows) {
    if (same.length > 0 && same[0]?.domain !== row.domain) {
      yield joinedFamilies(same) as DomainFamilies;
      same = [];
    }
    same.push(row);
  }
  if (same.length > 0) yield joinedFamilies(same) as DomainFamilies;
}
