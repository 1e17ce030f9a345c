import { ownText } from '../../../domain/own-text.ts';

/** A map that forgets what was not asked for the longest once there are too many entries, or too heavy ones. */
export interface WeightedLru<V> {
  get(key: string): V | undefined;
  set(key: string, value: V, weight: number): void;
  readonly size: number;
}

export function createWeightedLru<V>(limits: { readonly entries: number; readonly weight: number }): WeightedLru<V> {
  // The order of a Map is that of insertion: what is put in anew is the youngest.
  const entries = new Map<string, { readonly value: V; readonly weight: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(text, value, weight) {
      const key = ownText(text);
      remove(key);
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (oldest === key || (entries.size <= limits.entries && total <= limits.weight)) break;
        remove(oldest);
      }
    },
    get size() {
      return entries.size;
    },
  };
}
