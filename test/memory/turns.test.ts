import type { Turns } from '../../src/cluster/ports/turns.ts';
import { turnsContract } from '../contracts/cluster/turns.contract.ts';
import { createMemoryTurns } from './turns.ts';

let turns: Turns;
turnsContract('memory', {
  open: async () => turns,
  reset() {
    turns = createMemoryTurns();
  },
});
