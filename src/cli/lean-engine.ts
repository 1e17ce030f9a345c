import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CrawlProgress } from '../crawler.ts';

/**
 * How far the heap may grow over what is alive before old garbage is collected, per cent. V8 allows up to 300 on a machine with
 * much memory; a crawl runs beside other things, and the collections in between cost it next to nothing.
 */
const GROWING_PERCENT = 120;

/**
 * The same while a segment is applied to the crawl db: what is held of some hundred pages at a time lives just long enough to become old,
 * and would be let grow to more than all that the crawl needs. More collections while pages are fetched and parsed would be dear.
 */
const GROWING_PERCENT_IN_UPDATE = 30;

/**
 * Bytes of bytecode that the optimizing compiler may draw into one function from all that it calls, and from any one of them; V8 allows 920 and
 * 460. Most of a crawl's code runs some thousand times, so that compiling it costs as much as running it: less of it is saved twice.
 */
const INLINED_BYTES = 300;
const INLINED_BYTES_EACH = 150;

/** Sets up V8 for a crawl: for the whole process and before its workers start, so it is the program's to call, not the library's. */
export function keepEngineLean(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
  setFlagsFromString(`--max-inlined-bytecode-size=${INLINED_BYTES_EACH}`);
}

/**
 * Tells V8 what a crawl is at. The limit of the heap is only worked out by a collection, so there is one before a segment is applied.
 * @param setFlags V8's
 * @returns what is to be called with every progress
 */
export function heapByStage(setFlags = setFlagsFromString): (progress: Pick<CrawlProgress, 'stage'>) => void {
  const collect = collector();
  /** `null`: as the crawl before left it, which may have ended within an update. */
  let isUpdating: boolean | null = null;
  return ({ stage }) => {
    if (isUpdating === (stage === 'update')) return;
    isUpdating = stage === 'update';
    setFlags(`--heap-growing-percent=${isUpdating ? GROWING_PERCENT_IN_UPDATE : GROWING_PERCENT}`);
    if (isUpdating) collect();
  };
}

/** V8's `gc`, which only contexts made while its flag is set have. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('gc') as () => void;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
