import { spreadSimulation } from '../../simulation/spread/spread-simulation.ts';

/** Faults put in by hand are found by some of these: hosts that do not rest after a crash by 10. */
spreadSimulation(40);
