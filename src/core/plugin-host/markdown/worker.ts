/** The entry of the thread that converts. */
import { boundModuleReads } from '../../packages/module-reads.ts';

boundModuleReads();
const { default: convertBatch } = await import('./convert-batch.ts');

export default convertBatch;
