import { afterAll, beforeAll, describe } from 'vitest';
import { objectStoreContract } from '../../../contracts/objects/object-store.contract.ts';
import { NO_S3, type S3Server, startS3, storeAt } from './s3-server.ts';

describe.skipIf(NO_S3 !== null)(`S3 server${NO_S3 === null ? '' : `: ${NO_S3}`}`, () => {
  let server: S3Server;
  let number = 0;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.stop());
  objectStoreContract('S3', async () => storeAt(server.endpoint, `exam-${number++}/`));
});
