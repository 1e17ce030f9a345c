import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createS3ObjectStore } from '../../../../src/cluster/s3/s3-object-store.ts';
import type { S3Options } from '../../../../src/cluster/s3/s3-requests.ts';
import type { ObjectStore } from '../../../../src/core/ports/objects/object-store.ts';
import { systemClock } from '../../../../src/operations/system/clock.ts';

/** versitygw, an S3 server over a folder: `go install` puts it there. */
const PROGRAM = [process.env.GOBIN, process.env.GOPATH && join(process.env.GOPATH, 'bin'), join(homedir(), 'go', 'bin')]
  .flatMap((dir) => (dir ? [join(dir, 'versitygw')] : []))
  .find((file) => existsSync(file));

/** `null` where the tests of an object store can run, else why they cannot. */
export const NO_S3: string | null =
  PROGRAM === undefined
    ? 'versitygw is not installed (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0)'
    : null;

export const S3_ENV = { AWS_ACCESS_KEY_ID: 'TESTKEY', AWS_SECRET_ACCESS_KEY: 'secret/of+tests=' };
export const BUCKET = 'crawls';

export interface S3Server {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  kill(): Promise<void>;
  /** Starts it again on the same port, with what was stored. */
  again(): Promise<void>;
  stop(): Promise<void>;
}

/** A server of its own with an empty bucket, which ends with this process at the latest. */
export async function startS3(): Promise<S3Server> {
  const root = mkdtempSync(join(tmpdir(), 'incrawl-s3-'));
  for (const dir of ['objects', join('objects', BUCKET), 'sidecar']) mkdirSync(join(root, dir));
  const port = await freePort();
  const { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret } = S3_ENV;
  const start = async (): Promise<ChildProcess> => {
    const own = ['--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive', '--access', access, '--secret', secret];
    // Extended attributes are not to be had on every file system.
    const stored = ['posix', '--sidecar', join(root, 'sidecar'), join(root, 'objects')];
    const child = spawn(PROGRAM as string, [...own, ...stored], { stdio: 'ignore' });
    await answering(`http://127.0.0.1:${port}/`, child);
    return child;
  };
  let child = await start();
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    kill,
    again: async () => {
      child = await start();
    },
    stop: async () => {
      process.removeListener('exit', endWithUs);
      await kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A store with a prefix of its own. */
export function storeAt(endpoint: string, prefix: string, more: Partial<S3Options> = {}): ObjectStore {
  const options = { endpoint, region: 'us-east-1', pathStyle: 'auto', bucket: BUCKET, prefix } as const;
  const terms = { timeoutMs: 10_000, patienceMs: 20_000 };
  return createS3ObjectStore(
    { ...options, ...terms, ...more },
    { clock: systemClock, random: Math.random, env: S3_ENV },
  );
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`versitygw ended with ${child.exitCode}`);
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
