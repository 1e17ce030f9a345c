/** How far work on many items has come: a pass over the records, an import, an export. */
export interface WorkProgress {
  /** What is done, in words: `reading records`. Other words, or a smaller number, begin a new count. */
  readonly work: string;
  /** Items done so far. */
  readonly done: number;
  /** Items in all; `null`: not known before the end. */
  readonly total: number | null;
}

/** Observer of long work, called at least once per thousand items. It must return at once and not throw. */
export type OnWork = (progress: WorkProgress) => void;

export const UNOBSERVED: OnWork = () => {};
