import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { createObjectSegmentStore } from '../../../../src/adapters/files/object-segments/object-segment-store.ts';
import { createMemoryObjectStore } from '../../../../src/adapters/memory/object-store.ts';
import type { ObjectStore } from '../../../../src/ports/objects/object-store.ts';
import { segmentStoreContract } from '../../../contracts/segment-store.contract.ts';
import { NO_S3, type S3Server, startS3, storeAt } from '../../../system/adapters/s3/s3-server.ts';
import { temporaryFolders, WARC_OPTIONS } from '../temporary-folder.ts';

const newFolder = temporaryFolders();

/** Small parts, so that segments consist of several. */
const TERMS = { partBytes: 64 << 10, sealMs: 60_000, token: 0, patienceMs: 60_000, warc: WARC_OPTIONS };
/** Each store has a local folder of its own, as processes on other machines have. */
const storeOn = (objects: ObjectStore) =>
  createObjectSegmentStore({ ...TERMS, objects, spoolDir: join(newFolder(), 'spool') });

segmentStoreContract('objects in memory', async () => {
  const objects = createMemoryObjectStore();
  return { store: storeOn(objects), reopen: () => storeOn(objects), end: async () => undefined };
});

describe.skipIf(NO_S3 !== null)(`S3 server${NO_S3 === null ? '' : `: ${NO_S3}`}`, () => {
  let server: S3Server;
  let number = 0;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.stop());
  segmentStoreContract('objects in S3', async () => {
    const objects = storeAt(server.endpoint, `segments-${number++}/`);
    return { store: storeOn(objects), reopen: () => storeOn(objects), end: () => objects.close() };
  });
});
