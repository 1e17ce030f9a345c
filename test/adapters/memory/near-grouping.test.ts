import { createMemoryNearGrouping } from '../../../src/adapters/memory/near-grouping.ts';
import { nearGroupingContract } from '../../contracts/near-grouping.contract.ts';

nearGroupingContract('memory', createMemoryNearGrouping);
