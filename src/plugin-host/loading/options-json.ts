import { isPlain } from '../../domain/deep-freeze.ts';

/** Options as JSON. A schema may have turned them into values that JSON lacks, such as a `Set` or a `RegExp`. */
export const optionsJson = (options: Readonly<Record<string, unknown>>): string => JSON.stringify(options, reported);

function reported(_key: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  const isKnown = value === null || isPlain(value) || (typeof value !== 'object' && typeof value !== 'bigint');
  return isKnown ? value : String(value);
}
