import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * How far the heap may grow over what is alive before old garbage is collected, per cent. V8 allows up to 300 on a
 * machine with much memory; a crawl runs beside other things. With 50 a crawl costs a tenth more. From Node 24 on,
 * bodies of pages, which lie outside the heap, are mostly freed by collections of all of it, which therefore come
 * sooner.
 */
const GROWING_PERCENT = Number.parseInt(process.versions.node, 10) < 24 ? 120 : 70;

/**
 * Bytes of bytecode that the optimizing compiler may draw into one function from all that it calls, and from any one of
 * them; V8 allows 920 and
 * 460. Most of a crawl's code runs some thousand times, so that compiling it costs as much as running it: less of it is
 *   saved twice.
 */
const INLINED_BYTES = 300;
const INLINED_BYTES_EACH = 150;

/**
 * A young generation of this size is not doubled once more, bytes. It ends at 16 to 32 MiB, which is as much as Node 20
 * and 22 allow; Node 24 lets it grow to 128 MiB, which saved no CPU that could be measured.
 */
const YOUNG_GENERATION_BYTES = 16 * 2 ** 20;

/**
 * Half of the young generation (V8: semi-space) with which a worker begins, MiB: as much as a thread of parsers may
 * have (`page-parser.ts`).
 */
const WORKER_SEMI_SPACE_MIB = 8;

/**
 * Sets up V8 for a crawl: for the whole process and before its workers start, so it is the program's to call, not the
 * library's.
 */
export function keepEngineLean(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
  setFlagsFromString(`--max-inlined-bytecode-size=${INLINED_BYTES_EACH}`);
  // Whether V8 takes the nodes of a DOM for long-lived hangs on when its first collections happen to come; where it
  // does, each collection lets the trees of several pages grow old, and a crawl costs a tenth more.
  setFlagsFromString('--no-allocation-site-pretenuring');
  keepYoungGenerationSmall();
}

/**
 * V8 reads its limit for the young generation when it starts, before any code of ours. What it reads each time is the
 * factor of growth, for all threads alike; hence workers begin with what they would have grown to.
 */
function keepYoungGenerationSmall(): void {
  setFlagsFromString(`--min-semi-space-size=${WORKER_SEMI_SPACE_MIB}`);
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young !== undefined && young.space_size < YOUNG_GENERATION_BYTES) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
}
