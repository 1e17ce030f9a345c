import { nearGroupingContract } from '../contracts/near-grouping.contract.ts';
import { createMemoryNearGrouping } from './near-grouping.ts';

nearGroupingContract('memory', createMemoryNearGrouping);
