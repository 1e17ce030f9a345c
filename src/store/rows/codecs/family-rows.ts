import { CrawlError } from '../../../core/domain/errors.ts';
import { hostFromPrefix, hostPrefix } from '../../../core/domain/url/canonical/url-key.ts';
import type { DomainFamilies, StoredFamily } from '../../../core/domain/url/families/stored-families.ts';
import { type Rows, readMany, readRange } from '../rows.ts';
import { ROW, rowRange } from './keys.ts';
import { pack, unpack } from './pack.ts';

type FamilyTuple = readonly [
  leader: string,
  size: number,
  isNoise: boolean,
  similarityToNoise: number,
  template?: string,
  visits?: number,
];

export const familiesKey = (domain: string): string => ROW.families + hostPrefix(domain);

export function encodeFamilies({ appliedAt, families }: DomainFamilies): Buffer {
  return pack([
    appliedAt,
    families.map((family): FamilyTuple => {
      const { leader, size, isNoise, similarityToNoise, visited } = family;
      const plain = [leader, size, isNoise, similarityToNoise] as const;
      return visited === undefined ? plain : [...plain, visited.template, visited.visits];
    }),
  ]);
}

/** Throws `CrawlError('db-corrupt')` that names the domain. */
export function decodeFamilies(key: string, bytes: Uint8Array): DomainFamilies {
  const domain = hostFromPrefix(key.slice(ROW.families.length));
  try {
    const [appliedAt, tuples] = unpack(bytes) as [number, FamilyTuple[]];
    const families = tuples.map(([leader, size, isNoise, similarityToNoise, template, visits = 0]): StoredFamily => {
      const plain = { leader, size, isNoise, similarityToNoise };
      return template === undefined ? plain : { ...plain, visited: { template, visits } };
    });
    return { domain, appliedAt, families };
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CrawlError('db-corrupt', `the link families of ${domain} cannot be read: ${why}`, { cause });
  }
}

/** In the order of the domains; `undefined` for one without families. */
export async function readFamilies(rows: Rows, domains: readonly string[]): Promise<(DomainFamilies | undefined)[]> {
  const keys = domains.map(familiesKey);
  const found = await readMany(rows, keys);
  return found.map((bytes, i) => (bytes === undefined ? undefined : decodeFamilies(keys[i]!, bytes)));
}

export async function* scanFamilies(rows: Rows): AsyncGenerator<DomainFamilies, void, undefined> {
  for await (const batch of readRange(rows, rowRange(ROW.families))) {
    for (const [key, bytes] of batch) yield decodeFamilies(key, bytes);
  }
}
