import { createMemoryJobEngine } from '../../../src/adapters/memory/job-engine.ts';
import { jobEngineContract } from '../../contracts/job-engine.contract.ts';

jobEngineContract('memory', { open: async () => createMemoryJobEngine(), reset() {}, isShared: false });
