import { gunzipSync } from 'node:zlib';
import { verifySegments } from '../../../src/store/files/care/segment-care.ts';
import type { SimulatedDisk } from './disk.ts';
import { STATE_DIR } from './process.ts';

/**
 * Every response that a segment points at can be read, and has the digest that is stored with it; each WARC file
 * consists of whole gzip members from its first byte to its last one, as other programs read it.
 */
export async function findDamagedFiles(disk: SimulatedDisk): Promise<string[]> {
  const faults: string[] = [];
  await verifySegments(`${STATE_DIR}/segments`, true, ({ kind, subject, detail }) => {
    faults.push(`verify says ${kind}: ${subject}: ${detail}`);
  });
  for (const path of disk.paths()) {
    if (!path.endsWith('.warc.gz')) continue;
    const fault = faultOfMembers(disk.file(path).content);
    if (fault !== null) faults.push(`other programs cannot read ${path}: ${fault}`);
  }
  return faults;
}

/** `info` adds how far the members go, which the types of Node do not know. */
function faultOfMembers(content: Buffer): string | null {
  try {
    const { engine } = gunzipSync(content, { info: true }) as unknown as { engine: { bytesWritten: number } };
    return engine.bytesWritten === content.length ? null : `its members end at byte ${engine.bytesWritten}`;
  } catch (error) {
    return (error as Error).message;
  }
}
