import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createS3ObjectStore } from '../../../../src/cluster/s3/s3-object-store.ts';
import type { S3Options } from '../../../../src/cluster/s3/s3-requests.ts';
import type { Clock } from '../../../../src/core/ports/clock.ts';
import type { ObjectStore } from '../../../../src/core/ports/objects/object-store.ts';
import { type Fault, type FaultyS3, startFaultyS3 } from './faulty-s3.ts';
import { BUCKET, NO_S3, S3_ENV, type S3Server, startS3, storeAt } from './s3-server.ts';

/** Time passes by pauses alone; these are collected. */
function pausingClock(): Clock & { readonly pauses: number[] } {
  let now = Date.now();
  const pauses: number[] = [];
  return {
    pauses,
    now: () => Date.now(),
    elapsed: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      pauses.push(ms);
      now += ms;
    },
  };
}

const OPTIONS: Omit<S3Options, 'endpoint'> = {
  bucket: BUCKET,
  prefix: 'faults/',
  region: 'us-east-1',
  pathStyle: 'auto',
  timeoutMs: 400,
  patienceMs: 60_000,
};

describe.skipIf(NO_S3 !== null)(`an S3 server that fails${NO_S3 === null ? '' : `: ${NO_S3}`}`, () => {
  let server: S3Server;
  let proxy: FaultyS3;
  let clock: ReturnType<typeof pausingClock>;
  let store: ObjectStore;
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-faults-'));
  const file = join(dir, 'part');
  const content = Buffer.alloc(600_000, 'content ');
  const opened = (more: Partial<S3Options> = {}, env: Record<string, string> = S3_ENV): ObjectStore => {
    clock = pausingClock();
    store = createS3ObjectStore({ ...OPTIONS, endpoint: proxy.endpoint, ...more }, { clock, random: () => 0.5, env });
    return store;
  };
  /** These faults in this order, then none. */
  const suffer = (...faults: (Fault | null)[]): void => {
    const left = [...faults];
    proxy.fault = () => left.shift() ?? null;
    proxy.seen.length = 0;
  };
  beforeAll(async () => {
    writeFileSync(file, content);
    server = await startS3();
    proxy = await startFaultyS3(server.endpoint);
  });
  afterEach(() => store.close());
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
    rmSync(dir, { recursive: true });
  });

  it.each<Fault[]>([
    ['503', '429', 'reset'],
    ['torn', 'torn'],
    ['lost'],
    ['silent'],
    ['slow'],
    ['torn', 'lost', '503'],
  ])('writes and reads in spite of %s %s %s', async (...faults) => {
    opened();
    for (const [i, body] of [content, [{ file, start: 0, end: content.length }]].entries()) {
      suffer(...faults);
      const key = `${faults.join('-')}-${i}`;
      expect(await store.put(key, body, 'new')).not.toBeNull();
      // The object that a lost answer was about is known by its content.
      suffer(...faults);
      expect((await store.get(key))?.bytes.equals(content)).toBe(true);
      suffer(...faults);
      expect(await store.put(key, Buffer.from('other'), 'new')).toBeNull();
    }
  });

  it('a replacement whose answer was lost is known for its own, that of another writer is not', async () => {
    opened();
    suffer();
    const first = await store.put('manifest', Buffer.from('1'), 'new');
    suffer('lost');
    const second = await store.put('manifest', Buffer.from('2'), first!);
    expect(second).not.toBeNull();
    const other = storeAt(server.endpoint, OPTIONS.prefix);
    await other.put('manifest', Buffer.from('3'), second!);
    suffer('reset');
    expect(await store.put('manifest', Buffer.from('2 again'), second!)).toBeNull();
    await other.close();
  });

  it('pauses ever longer, then says what failed, where and what to do', async () => {
    opened({ patienceMs: 10_000 });
    proxy.fault = () => '503';
    const failure = await store.put('x', content).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'object-store-unreachable',
      message: expect.stringMatching(
        /^PUT s3:\/\/crawls\/faults\/x failed at http:\/\/127\.0\.0\.1:\d+ 7 times: it answered 503 SlowDown\. Nothing that was stored is lost/,
      ),
    });
    expect(clock.pauses).toEqual([150, 300, 600, 1_200, 2_400, 4_800]);
  });

  it('says so when nothing listens there, and when a request is never answered', async () => {
    opened({ endpoint: 'http://127.0.0.1:1', patienceMs: 1_000 });
    await expect(store.get('x')).rejects.toMatchObject({
      code: 'object-store-unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await store.close();
    opened({ patienceMs: 200 });
    suffer('silent', 'silent');
    await expect(store.get('x')).rejects.toMatchObject({ code: 'object-store-unreachable' });
  });

  it('obeys Retry-After, and gives up at once when the signal is aborted', async () => {
    const busy = createServer((asked, answer) => {
      asked.resume();
      answer.writeHead(503, { 'retry-after': '7' }).end();
    });
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
    opened({ endpoint: `http://127.0.0.1:${(busy.address() as AddressInfo).port}`, patienceMs: 20_000 });
    await expect(store.get('x')).rejects.toMatchObject({ code: 'object-store-unreachable' });
    expect(clock.pauses).toEqual([7_000, 7_000]);
    const stop = new AbortController();
    clock.sleep = async () => stop.abort(new Error('enough'));
    await expect(store.get('x', { signal: stop.signal })).rejects.toThrow('enough');
    await new Promise((resolve) => busy.close(resolve).closeAllConnections());
  });

  it('is refused with advice, once, and never shows a secret', async () => {
    suffer();
    const small = Buffer.from('small');
    const cases: [Partial<S3Options>, Record<string, string>, RegExp][] = [
      [{}, { ...S3_ENV, AWS_SECRET_ACCESS_KEY: 'wrong-secret' }, /SignatureDoesNotMatch.*AWS_SECRET_ACCESS_KEY/],
      [{}, { ...S3_ENV, AWS_ACCESS_KEY_ID: 'WHO' }, /was refused: 40[34] \w+.*; \w/],
      [{ bucket: 'absent' }, S3_ENV, /NoSuchBucket.*create it/],
      [{ region: 'eu-central-1' }, S3_ENV, /s3\.region/],
    ];
    for (const [more, env, expected] of cases) {
      opened(more, env);
      proxy.seen.length = 0;
      for (const attempt of [() => store.get('x'), () => store.put('x', small), () => store.put('x', small, 'new')]) {
        const failure = (await attempt().catch((error: unknown) => error)) as Error;
        expect(failure, String(expected)).toMatchObject({
          code: 'object-store-refused',
          message: expect.stringMatching(expected),
        });
        expect(JSON.stringify(failure) + failure.stack + failure.message).not.toContain(env.AWS_SECRET_ACCESS_KEY);
      }
      expect(proxy.seen.length).toBe(3);
      await store.close();
    }
    opened({}, { HOME: dir });
    await expect(store.get('x')).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('AWS_ACCESS_KEY_ID'),
    });
  });

  it('reads credentials from a file, and again when they have ended', async () => {
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = S3_ENV;
    const env = { AWS_SHARED_CREDENTIALS_FILE: join(dir, 'credentials'), AWS_PROFILE: 'crawl' };
    const write = (token: string): void =>
      writeFileSync(
        env.AWS_SHARED_CREDENTIALS_FILE,
        `# mine\n[default]\naws_access_key_id = no\naws_secret_access_key = no\n\n[crawl]\n` +
          `aws_access_key_id=${id}\naws_secret_access_key = ${secret}\n${token}`,
      );
    write('');
    suffer();
    opened({}, env);
    await store.put('mine', content);
    await store.close();
    const tokens: unknown[] = [];
    const expiring = createServer((asked, answer) => {
      asked.resume();
      tokens.push(asked.headers['x-amz-security-token']);
      if (tokens.length > 1) answer.writeHead(200, { etag: '"e"' }).end();
      else answer.writeHead(400).end('<Error><Code>ExpiredToken</Code></Error>');
      write('aws_session_token = second\n');
    });
    await new Promise<void>((resolve) => expiring.listen(0, '127.0.0.1', resolve));
    write('aws_session_token = first\n');
    opened({ endpoint: `http://127.0.0.1:${(expiring.address() as AddressInfo).port}` }, env);
    await store.get('x');
    expect(tokens).toEqual(['first', 'second']);
    await new Promise((resolve) => expiring.close(resolve).closeAllConnections());
  });

  it('writes a large file in parts, which appears whole or not at all', async () => {
    const large = join(dir, 'large');
    const bytes = Buffer.alloc(12 << 20, 'a large file, ');
    writeFileSync(large, bytes);
    opened({ partBytes: 5 << 20, timeoutMs: 10_000 });
    suffer(null, '503', null, 'lost', null, 'reset');
    expect(await store.put('large', [{ file: large, start: 1, end: bytes.length }])).not.toBeNull();
    expect((await store.get('large'))?.bytes.equals(bytes.subarray(1))).toBe(true);
    await store.close();
    opened({ partBytes: 5 << 20, timeoutMs: 10_000, patienceMs: 1_000 });
    proxy.fault = ({ path }) => (path.includes('partNumber=2') ? '503' : null);
    await expect(store.put('torn', [{ file: large, start: 0, end: bytes.length }])).rejects.toMatchObject({
      code: 'object-store-unreachable',
    });
    expect(await store.get('torn')).toBeNull();
    expect(proxy.seen.some(({ method, path }) => method === 'DELETE' && path.includes('uploadId'))).toBe(true);
  });

  it('survives a restart of the server between two requests', async () => {
    suffer();
    opened();
    clock.sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    await store.put('kept', content);
    await server.kill();
    const reading = store.get('kept');
    await server.again();
    expect((await reading)?.bytes.equals(content)).toBe(true);
  });
});

describe('addresses of an S3 store', () => {
  it('an endpoint has the bucket in its path, AWS in its host', async () => {
    const { bucketUrl, bucketPlace } = await import('../../../../src/cluster/s3/address.ts');
    const at = (bucket: string, endpoint: string, pathStyle: S3Options['pathStyle'] = 'auto') =>
      bucketUrl(bucket, { endpoint, region: 'eu-west-1', pathStyle });
    expect(at('mine', '')).toBe('https://mine.s3.eu-west-1.amazonaws.com/');
    expect(at('my.dots', '')).toBe('https://s3.eu-west-1.amazonaws.com/my.dots/');
    expect(at('mine', 'http://127.0.0.1:9000/')).toBe('http://127.0.0.1:9000/mine/');
    expect(at('mine', 'https://s3.example.org', 'never')).toBe('https://mine.s3.example.org/');
    for (const wrong of ['ftp://x', 'x', 'https://user:pass@x']) expect(() => at('mine', wrong)).toThrow('endpoint');
    expect(() => at('mine', 'https://user:pass@x')).not.toThrow('pass@');
    expect(bucketPlace('s3://mine')).toEqual({ bucket: 'mine', prefix: '' });
    expect(bucketPlace('s3://mine/')).toEqual({ bucket: 'mine', prefix: '' });
    expect(bucketPlace('s3://mine/a/b/')).toEqual({ bucket: 'mine', prefix: 'a/b/' });
    for (const wrong of ['s3:/mine', 's3://', 's3://M', 's3://mine/../x', 'mine', 's3://user:pass@mine']) {
      expect(() => bucketPlace(wrong)).toThrow('s3://bucket/prefix');
    }
  });
});
