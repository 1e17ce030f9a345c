import { type BlockMemory, type FoundParts, learnBlocks } from './block-memory.ts';

/**
 * The memory when the body of the last visit was parsed anew: its parts as they are found now, each block with the
 * churn that its place had. No visit happened, so nothing is learnt, and what the last visit found changed stays.
 */
export function rereadBlocks(before: BlockMemory | null, found: FoundParts): BlockMemory {
  const fresh = learnBlocks(null, found).memory;
  if (before === null) return fresh;
  const churns = new Map(before.blocks.map(({ key, churn }) => [key, churn]));
  // Learning the same prints again takes one from each churn.
  const blocks = fresh.blocks.map((block) => ({ ...block, churn: (churns.get(block.key) ?? -1) + 1 }));
  return { ...learnBlocks({ ...fresh, blocks }, found).memory, changed: before.changed };
}
