import { loadBullMq } from '../../../../src/adapters/bullmq/bullmq.ts';
import { NO_POSTGRES } from './postgres-server.ts';

function isInstalled(): boolean {
  try {
    loadBullMq();
    return true;
  } catch {
    return false;
  }
}

/** `null` where the tests of workers on PostgreSQL can run, else why they cannot. */
export const NO_JOBS: string | null = NO_POSTGRES ?? (isInstalled() ? null : 'the package bullmq is not installed');
