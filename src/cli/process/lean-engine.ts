import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Growth of the heap over its live part before a full collection, percent. V8 allows up to 300 on a machine with much
 * memory; a crawl runs beside other programs. With 50 a crawl costs a tenth more CPU. From Node 24 on, bodies of pages,
 * which are outside the heap, are mostly freed by full collections only, so these have to come sooner.
 */
const GROWING_PERCENT = Number.parseInt(process.versions.node, 10) < 24 ? 120 : 70;

/**
 * Bytecode that the optimizing compiler may inline into a function in total, and from one callee, bytes; V8 allows 920
 * and 460. Most of a crawl's code runs only a few thousand times, so that compiling costs as much as running: a smaller
 * function saves both.
 */
const INLINED_BYTES = 300;
const INLINED_BYTES_EACH = 150;

/**
 * A young generation of this size stops growing, bytes. It ends at 16 to 32 MiB, the limit of Node 20 and 22. Node 24
 * lets it grow to 128 MiB, which saved no measurable CPU.
 */
const YOUNG_GENERATION_BYTES = 16 * 2 ** 20;

/** Initial semi-space (half the young generation) of a worker, MiB: that of `parser-thread.ts`. */
const WORKER_SEMI_SPACE_MIB = 4;

/**
 * Sets the flags of V8 for a crawl. They hold for the whole process and must be set before its workers start: the
 * program calls this, not the library.
 */
export function keepEngineLean(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`);
  setFlagsFromString(`--max-inlined-bytecode-size=${INLINED_BYTES_EACH}`);
  // Pretenuring puts the nodes of a DOM into the old generation in some runs, depending on when the first collections
  // come; in those runs a crawl costs a tenth more CPU.
  setFlagsFromString('--no-allocation-site-pretenuring');
  keepYoungGenerationSmall();
}

/**
 * V8 reads the limit of the young generation at its start, before any code of this program runs, but reads the growth
 * factor at each growth. The factor applies to all threads, so workers begin with the size that they would have grown
 * to.
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
