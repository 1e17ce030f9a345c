import fs from 'node:fs';

/** Files of modules that are open at a time. */
const AT_ONCE = 8;

/**
 * Bounds the files that Node opens to load modules. Its loader opens all files of one level of imports at once, which
 * were 185 in a crawl: more than `ulimit -n 200` leaves, and then neither the program nor a worker thread starts. To be
 * called by the entry of a process or a thread, before it imports the rest. Where a version of Node reads modules by
 * another function, this changes nothing.
 */
export function boundModuleReads(): void {
  const { promises } = fs;
  const { readFile } = promises;
  const waiting: (() => void)[] = [];
  let open = 0;
  const bounded = async (...args: Parameters<typeof readFile>): Promise<unknown> => {
    if (open >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else open++;
    try {
      return await readFile.apply(promises, args);
    } finally {
      // The slot passes directly to the next in line, so that no other can take it.
      const next = waiting.shift();
      if (next === undefined) open--;
      else next();
    }
  };
  promises.readFile = bounded as typeof readFile;
}
