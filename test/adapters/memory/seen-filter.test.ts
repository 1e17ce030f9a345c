import { createMemorySeenFilter } from '../../../src/adapters/memory/seen-filter.ts';
import { seenFilterContract } from '../../contracts/seen-filter.contract.ts';

seenFilterContract('memory', async (plan) => createMemorySeenFilter(plan));
