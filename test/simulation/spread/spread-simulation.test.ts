import { spreadSimulation } from './spread-simulation.ts';

/**
 * Faults put in by hand are found by some of these: rows that leave the outbox before they are in the inboxes by 3;
 * requests without a look at the lease by 2; hosts that do not rest after a crash by 1 and 2.
 */
spreadSimulation(8);
