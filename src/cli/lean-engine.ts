import { setFlagsFromString } from 'node:v8';

/**
 * How far the heap may grow over what is alive before old garbage is collected, per cent. V8 allows up to 300 on a machine with
 * much memory; a crawl runs beside other things. With 50 a crawl costs a tenth more.
 */
const GROWING_PERCENT = 120;

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
  // Whether V8 takes the nodes of a DOM for long-lived hangs on when its first collections happen to come; where it does, each collection lets the
  // trees of several pages grow old, and a crawl costs a tenth more.
  setFlagsFromString('--no-allocation-site-pretenuring');
}
