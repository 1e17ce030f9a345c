import { setFlagsFromString } from 'node:v8';

/**
 * How far the heap may grow over what is alive before old garbage is collected, per cent. V8 allows up to 300 on a machine with
 * much memory; a crawl runs beside other things, and the collections in between cost it next to nothing.
 */
const GROWING_PERCENT = 120;

/** For the whole process, so it is the program's to call, not the library's. */
export function keepHeapLean(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
