import { seenFilterContract } from '../contracts/seen-filter.contract.ts';
import { createMemorySeenFilter } from './seen-filter.ts';

seenFilterContract('memory', async (plan) => createMemorySeenFilter(plan));
