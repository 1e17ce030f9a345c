import type { RepairableDb } from './repair-part.ts';

/** A crawl db with its segments: the state directory, or a partition of a shared crawl. */
export interface CaredPart {
  /** Folder of its segments. */
  readonly dir: string;
  /** Three digits; empty where the crawl has no other part. */
  readonly name: string;
  /**
   * Calls `verify` with a folder that holds a copy of its rows of this moment, as `db`; another process may hold them.
   * @param shown replaces the path of the copy in a text by what it is a copy of
   */
  inCopy<Value>(verify: (dbIn: string, shown: (text: string) => string) => Promise<Value>): Promise<Value>;
  /** Keeps other processes away until the end. Rejects with `db-locked` where one has it. */
  hold(): Promise<RepairableDb>;
}
