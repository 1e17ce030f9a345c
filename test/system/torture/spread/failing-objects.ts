import { type Fault, startFaultyS3 } from '../../cluster/s3/faulty-s3.ts';
import { BUCKET, NO_S3, S3_ENV, startS3 } from '../../cluster/s3/s3-server.ts';

/** Why segments cannot lie in an object store here, or null. */
export const NO_OBJECTS: string | null = NO_S3;

/** Credentials of the object store, for the environment of workers. */
export const KEYS_OF_OBJECTS: Readonly<Record<string, string>> = S3_ENV;

/** An S3 server behind a proxy that fails by chance. */
export interface FailingObjects {
  /** Options of a crawl whose segments lie in it. */
  options(crawl: string): readonly string[];
  /** Which requests fail is drawn from these numbers from now on. */
  failBy(random: () => number): void;
  /** Requests that were answered 503, or failed otherwise. */
  readonly failed: number;
  stop(): Promise<void>;
}

const FAILING = 0.15;
const FAULTS: readonly Fault[] = ['503', '503', '503', 'silent', 'lost', 'torn', 'reset', 'slow'];

/** Starts both. */
export async function failingObjects(): Promise<FailingObjects> {
  const server = await startS3();
  const proxy = await startFaultyS3(server.endpoint);
  let failed = 0;
  return {
    options(crawl) {
      const keys = {
        'segments.store': `s3://${BUCKET}/${crawl}`,
        's3.endpoint': proxy.endpoint,
        's3.region': 'us-east-1',
        // A request without an answer is given up after this time.
        's3.timeout': '1s',
      };
      return Object.entries(keys).flatMap(([key, value]) => ['-D', `${key}=${value}`]);
    },
    failBy(random) {
      proxy.seen.length = 0;
      proxy.fault = () => {
        if (random() >= FAILING) return null;
        failed++;
        return FAULTS[Math.floor(random() * FAULTS.length)] as Fault;
      };
    },
    get failed() {
      return failed;
    },
    async stop() {
      await proxy.stop();
      await server.stop();
    },
  };
}
