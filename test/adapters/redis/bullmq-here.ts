import { createRequire } from 'node:module';
import { NO_REDIS } from './redis-server.ts';

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** `null` where the tests of workers can run, else why they cannot. */
export const NO_BULLMQ: string | null =
  NO_REDIS ?? (isInstalled('bullmq') ? null : 'the package bullmq is not installed');
