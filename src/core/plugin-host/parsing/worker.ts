/** The entry of a parser thread. */
import { boundModuleReads } from '../../packages/module-reads.ts';

boundModuleReads();
const { default: parseBatch } = await import('./parse-batch.ts');

export default parseBatch;
