import { createMemoryTurns } from '../../../src/adapters/memory/turns.ts';
import type { Turns } from '../../../src/ports/cluster/turns.ts';
import { turnsContract } from '../../contracts/cluster/turns.contract.ts';

let turns: Turns;
turnsContract('memory', {
  open: async () => turns,
  reset() {
    turns = createMemoryTurns();
  },
});
