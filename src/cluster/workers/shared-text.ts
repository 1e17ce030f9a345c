import type { SharedChange } from '../partitions/partition-stores.ts';
import type { SharedStore } from '../ports/shared-store.ts';
import { WriteLease } from './write-lease.ts';

export interface SharedTexts {
  readonly store: Pick<SharedStore, 'product' | 'leases' | 'rows'>;
  /** Of the crawl. */
  readonly name: string;
  readonly leaseMs: number;
}

/** Wait for another process that changes what all partitions share, ms. */
const WAIT_MS = 5_000;

/** Name of the rows that all partitions of a crawl share. */
const sharedName = (crawl: string): string => `${crawl}:shared`;

/** A text that all partitions of a crawl share. */
export async function readShared(
  { store, name }: Omit<SharedTexts, 'leaseMs'>,
  key: string,
): Promise<string | undefined> {
  const rows = store.rows(sharedName(name), null);
  try {
    return (await rows.get(key))?.toString();
  } finally {
    await rows.close();
  }
}

/**
 * Changes a text that all partitions of a crawl share, while no other process changes it: wholly or not at all. Rejects
 * with `db-locked` if others change one for too long.
 */
export async function changeShared<Answer>(
  { store, name, leaseMs }: SharedTexts,
  key: string,
  change: (text: string | null) => SharedChange<Answer>,
): Promise<Answer> {
  const lease = await WriteLease.take({ store, name: sharedName(name), leaseMs, waitMs: WAIT_MS });
  const rows = store.rows(sharedName(name), lease.token);
  try {
    const { text, answer } = change((await rows.get(key))?.toString() ?? null);
    if (text !== null) await rows.put(key, Buffer.from(text));
    return answer;
  } finally {
    await rows.close();
    await lease.release();
  }
}
