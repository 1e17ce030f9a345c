// core/plugin-host/markdown/: pages as Markdown, converted in a worker thread.

import { parentPort } from 'node:worker_threads';
import { textOf } from '../loading/resolve-plugin.ts';
import { loadInWorker } from '../parsing/load-parsing.ts';
import type { PageBatch } from '../parsing/parse-batch.ts';
import { createPageConverter, type PageToConvert } from './convert-page.ts';

const { plugins } = await loadInWorker();
const convert = createPageConverter(plugins);

/** Runs in a worker thread. Rejects with the fault of a parser. */
export default async function convertBatch({ batch, pages }: PageBatch): Promise<(string | null)[]> {
  parentPort?.postMessage(batch);
  try {
    return await Promise.all((pages as readonly PageToConvert[]).map(convert));
  } catch (error) {
    // What a plugin throws may hold values that cannot cross threads.
    throw new Error(textOf(error));
  }
}
