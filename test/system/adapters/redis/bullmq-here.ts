import { loadBullMq } from '../../../../src/adapters/bullmq/bullmq.ts';
import { NO_REDIS } from './redis-server.ts';

function isInstalled(): boolean {
  try {
    loadBullMq();
    return true;
  } catch {
    return false;
  }
}

/** `null` where the tests of workers can run, else why they cannot. */
export const NO_BULLMQ: string | null = NO_REDIS ?? (isInstalled() ? null : 'the package bullmq is not installed');
