import { spreadSimulation } from '../../simulation/spread/spread-simulation.ts';

spreadSimulation(40);
