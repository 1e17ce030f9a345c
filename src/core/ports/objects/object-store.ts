// core/ports/objects/: stores of objects, which others run.

/**
 * Objects by key in a store that others run: S3 or what speaks its API. An object appears whole or not at all, and a
 * read that begins after a write has ended sees it (strong consistency). All rejections are `CrawlError`:
 * `object-store-unreachable` when it does not answer in spite of retries, `object-store-refused` when it refuses the
 * operation; a signal's reason when aborted.
 */
export interface ObjectStore {
  /** For messages: `s3://bucket/prefix`, without secrets. Keys are relative to it. */
  readonly name: string;
  /** `null`: there is no such object. A range beyond the end is cut; one that begins there gives no bytes. */
  get(key: string, options?: ObjectReading): Promise<StoredObject | null>;
  /**
   * Writes an object. With a condition resolves with `null`, and writes nothing, where it does not hold; this is
   * atomic: of several writers with one condition a single one succeeds. A write whose answer was lost is repeated.
   */
  put(key: string, content: ObjectContent, condition?: PutCondition): Promise<ObjectVersion | null>;
  /** Objects whose keys begin so, in the order of their keys. */
  list(prefix: string): AsyncIterable<ObjectEntry>;
  /** Names between `prefix`, which ends in a slash or is empty, and the next slash: the folders in it. */
  folders(prefix: string): AsyncIterable<string>;
  /** Unknown keys are ignored. */
  remove(keys: readonly string[]): Promise<void>;
  /** Ends idle connections. */
  close(): Promise<void>;
}

/** Bytes, or parts of files one after the other, which are not written meanwhile. */
export type ObjectContent = Uint8Array | readonly FilePart[];

/** The bytes of a file from `start` to before `end`. */
export interface FilePart {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** `new`: there must be no such object; otherwise it must have this ETag. */
export type PutCondition = 'new' | { readonly etag: string };

export interface ObjectVersion {
  /** Differs for different contents. */
  readonly etag: string;
}

export interface ObjectReading {
  /** Bytes from `start` to before `end`; absent: all. */
  readonly range?: { readonly start: number; readonly end: number };
  readonly signal?: AbortSignal;
}

export interface StoredObject extends ObjectVersion {
  readonly bytes: Buffer;
  /** Time since it was written, by the clock of the server, ms. */
  readonly ageMs: number;
}

export interface ObjectEntry extends ObjectVersion {
  readonly key: string;
  readonly bytes: number;
}
