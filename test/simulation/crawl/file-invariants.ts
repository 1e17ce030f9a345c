import { verifySegments } from '../../../src/store/files/care/segment-care.ts';
import { STATE_DIR } from './process.ts';

/** Every response that a segment points at can be read, and has the digest that is stored with it. */
export async function findDamagedFiles(): Promise<string[]> {
  const faults: string[] = [];
  await verifySegments(`${STATE_DIR}/segments`, true, ({ kind, subject, detail }) => {
    faults.push(`verify says ${kind}: ${subject}: ${detail}`);
  });
  return faults;
}
