import { afterAll, afterEach } from 'vitest';
import { endFile, endTest } from './ends.ts';

// Run again for each file of tests, while the modules that it imports stay loaded from file to file.
afterEach(endTest);
afterAll(endFile);
