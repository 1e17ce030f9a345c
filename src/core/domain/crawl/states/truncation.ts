/**
 * Why a body is not the whole page, in the words of `WARC-Truncated` (WARC 1.1, section 5.13). `length`: it was cut at
 * the configured size. `disconnect`: the connection or the content coding ended before the body did. `unspecified`: a
 * 206 answer, which is a part by its status, or a body that was not read. And of records alone, `lost`: the stored
 * response was damaged, and a repair has taken it out.
 */
export const TRUNCATIONS = ['length', 'disconnect', 'unspecified', 'lost'] as const;
export type Truncation = (typeof TRUNCATIONS)[number];

/** As stored by versions that knew one reason only: `true` was a cut at the configured size, as far as they said. */
export type StoredTruncation = Truncation | boolean;

export const truncationOf = (stored: StoredTruncation | undefined): Truncation | null =>
  stored === true ? 'length' : stored === undefined || stored === false ? null : stored;

/**
 * Whether a truncation is an accident of the transfer. A cut at the configured size is none: it falls at the same place
 * at each visit, so that such bodies compare with each other.
 */
export const isPartial = (truncated: StoredTruncation | null): boolean =>
  truncated === 'disconnect' || truncated === 'unspecified' || truncated === 'lost';

/** Visits in a row that fail before a partial body is taken for want of a whole one. */
const RETRIES = 2;

/** Whether the next visit takes a body however partial it is: some servers never send one as long as they declare. */
export function takesPartial({ truncated, failures, lastError }: TriedRecord): boolean {
  return isPartial(truncated) || (failures >= RETRIES && lastError?.code === 'body-incomplete');
}

/** Of a record: its copy, and its last failures. */
interface TriedRecord {
  readonly truncated: Truncation | null;
  readonly failures: number;
  readonly lastError: { readonly code: string } | null;
}
