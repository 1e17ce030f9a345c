import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { storesOn } from '../../../cluster/object-segments/stores-on.ts';
import { segmentStoreContract } from '../../../contracts/segment-store.contract.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_S3, type S3Server, startS3, storeAt } from './s3-server.ts';

const storeOn = storesOn(() => join(workDir(), 'spool'));

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
