// core/plugin-host/markdown/: pages as Markdown, converted in a worker thread.

import { parentPort } from 'node:worker_threads';
import { textOf } from '../loading/resolve-plugin.ts';
import { loadInWorker } from '../parsing/load-parsing.ts';
import type { PageBatch } from '../parsing/parse-batch.ts';
import { createPageConverter, type PageToConvert } from './convert-page.ts';

const { plugins, documentMemory } = await loadInWorker();
const convert = createPageConverter(plugins);

/** Answer for a page that is to be converted in the process for documents: its body was copied, and is still there. */
export interface DocumentElsewhere {
  /** {@link Parser.maxMemory} of its parser. */
  readonly maxMemory: number;
}

/** Runs in a worker thread. Rejects with the fault of a parser. */
export default async function convertBatch({
  batch,
  pages,
}: PageBatch): Promise<(string | null | DocumentElsewhere)[]> {
  parentPort?.postMessage(batch);
  try {
    return await Promise.all(
      (pages as readonly PageToConvert[]).map((page) => {
        const maxMemory = documentMemory(page);
        return maxMemory === null ? convert(page) : { maxMemory };
      }),
    );
  } catch (error) {
    // What a plugin throws may hold values that cannot cross threads.
    throw new Error(textOf(error));
  }
}
