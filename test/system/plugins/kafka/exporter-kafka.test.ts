import type { ExportDocument, ExportSink, PluginHost } from 'incrawl/plugin';
import { madeDocument, testHost, testPlugin } from 'incrawl/plugin-testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import plugin from '../../../../plugins/exporter-kafka/plugin.ts';
import { unknownIdentity } from '../../../site/tls-identity.ts';
import { type KafkaBroker, NO_KAFKA, startKafka, USER } from './kafka-broker.ts';

/** A JVM that starts beside other tests. */
const PATIENCE_MS = 120_000;

let kafka: KafkaBroker;
beforeAll(async () => {
  if (NO_KAFKA === null) kafka = await startKafka();
}, PATIENCE_MS);
afterAll(() => kafka?.stop(), PATIENCE_MS);
afterEach(() => {
  delete process.env.INCRAWL_KAFKA_USERNAME;
  delete process.env.INCRAWL_KAFKA_PASSWORD;
});

const noContent = { response: async () => null, markdown: async () => null };
const page = (name: string, more: Partial<ExportDocument> = {}): ExportDocument =>
  madeDocument(`http://e.example/${name}`, { text: `text of ${name}`, ...more });

async function open(place: string, options: object = {}, host: Partial<PluginHost> = {}): Promise<ExportSink> {
  const exporter = await plugin.setup(
    { ...testHost, ...host },
    plugin.options?.parse({ firstPauseMs: 100, ...options }) as never,
  );
  if (!('open' in exporter)) throw new Error('it opens a sink');
  return exporter.open({
    place,
    isIncremental: false,
    software: 'test',
    crawl: { userAgent: 'test', operator: '', robots: 'classic' },
    write: async () => {},
    partial: (file) => `${file}.partial`,
    sorted: (lines) => lines,
  });
}

describe.skipIf(NO_KAFKA !== null)(
  `a Kafka broker${NO_KAFKA === null ? '' : ` (skipped: ${NO_KAFKA})`}`,
  {
    timeout: PATIENCE_MS,
  },
  () => {
    it('keeps the contract of its kind: pages under their URLs, headers, tombstones last', async () => {
      await kafka.topic('contract');
      await testPlugin(plugin, { place: `kafka://${kafka.plain}/contract` });
      const found = await kafka.messages('contract');
      const of = (url: string) => found.filter(({ key }) => key === url);
      const second = of('https://example.org/a/b%20c/CON?x=1&y=%2F..%2F');
      expect(second).toHaveLength(2);
      expect(JSON.parse(second[0]?.value ?? '')).toMatchObject({ title: '=1+1', depth: 3, metadata: { 'a.b': 1 } });
      expect(second[0]?.headers).toEqual({
        kind: 'page',
        state: 'fetched',
        digest: '0123456789abcdef0123456789abcdef',
        fetchedAt: '2026-01-01T00:00:00.000Z',
        changedAt: '2026-01-01T00:00:00.000Z',
      });
      const first = of('http://example.org/');
      expect(first.map(({ value }) => value === null)).toEqual([false, false, true]);
      expect(first[2]?.headers).toEqual({ kind: 'removed', state: 'gone' });
      expect(of('http://example.org/never').map(({ value, headers }) => [value, headers])).toEqual([
        [null, { kind: 'removed', state: 'duplicate', target: 'http://example.org/' }],
      ]);
      // All messages of a key are in one partition, the one where Kafka's own clients look for it (murmur2).
      for (const { key } of found) expect(new Set(of(key).map(({ partition }) => partition)).size).toBe(1);
    });

    it('a message that is too large stays out, and is named; all others are there, once, in their order', async () => {
      await kafka.topic('small', { maxBytes: 20_000 });
      const sink = await open(`kafka://${kafka.plain}/small`, { compression: 'none' });
      for (let i = 0; i < 40; i++) {
        await sink.document(page(`${i}`, { text: 'x'.repeat(i === 17 ? 30_000 : 4_000) }), noContent);
      }
      for (let i = 0; i < 40; i += 10) {
        await sink.removed({ url: `http://e.example/${i}`, state: 'gone', target: null, contentType: null });
      }
      await expect(sink.close()).rejects.toThrow(
        /^1 page is too large for the topic "small", the others are there: http:\/\/e\.example\/17 \(30\d+ bytes\)\. Raise max\.message\.bytes of the topic$/,
      );
      const last = new Map((await kafka.messages('small')).map(({ key, value }) => [key, value]));
      expect(last.size).toBe(39);
      expect(last.has('http://e.example/17')).toBe(false);
      const gone = [...last].flatMap(([key, value]) => (value === null ? [key] : []));
      expect(gone.sort()).toEqual([0, 10, 20, 30].map((i) => `http://e.example/${i}`));
    });

    it('a broker that is killed and comes back has each message once', async () => {
      await kafka.topic('killed');
      const sink = await open(`kafka://${kafka.plain}/killed`, { batchPages: 10 });
      for (let i = 0; i < 25; i++) await sink.document(page(`${i}`), noContent);
      await kafka.kill();
      const rest = (async () => {
        for (let i = 25; i < 50; i++) await sink.document(page(`${i}`), noContent);
        await sink.close();
      })();
      await kafka.again();
      await rest;
      const keys = (await kafka.messages('killed')).map(({ key }) => key);
      expect(keys.sort()).toEqual(Array.from({ length: 50 }, (_, i) => `http://e.example/${i}`).sort());
    });

    it.each([
      ['SCRAM without TLS', () => `kafka://${kafka.scram}/secret`, { mechanism: 'scram-sha-256' }],
      ['PLAIN over TLS', () => `kafka+ssl://${kafka.tls}/secret`, { mechanism: 'plain', caFile: 'ca.pem' }],
    ] as const)('takes name and password from the environment: %s', async (_, place, options) => {
      await kafka.topic('secret').catch(() => {});
      const host = { readTextFile: (file: string) => (file === 'ca.pem' ? unknownIdentity.cert : '') };
      process.env.INCRAWL_KAFKA_USERNAME = USER.name;
      process.env.INCRAWL_KAFKA_PASSWORD = 'wrong';
      await expect(open(place(), options, host)).rejects.toThrow(
        new RegExp(`^127\\.0\\.0\\.1:\\d+ did not take name and password by ${options.mechanism.toUpperCase()}: `),
      );
      process.env.INCRAWL_KAFKA_PASSWORD = USER.password;
      const before = (await kafka.messages('secret')).length;
      const sink = await open(place(), options, host);
      await sink.document(page('a'), noContent);
      await sink.close();
      expect((await kafka.messages('secret')).length).toBe(before + 1);
    });

    it('says at once what is wrong: no such topic, an unknown certificate, a port that speaks TLS', async () => {
      await expect(open(`kafka://${kafka.plain}/absent`)).rejects.toThrow(
        `there is no topic "absent" at ${kafka.plain}: create it first (kafka-topics.sh --create --topic absent)`,
      );
      await expect(open(`kafka+ssl://${kafka.tls}/contract`, { retries: 1 })).rejects.toThrow(
        'self-signed certificate',
      );
      await expect(open(`kafka://${kafka.tls}/contract`, { retries: 1, timeoutMs: 2_000 })).rejects.toThrow(
        'is it a port for TLS (kafka+ssl://)?',
      );
      await expect(open('kafka://127.0.0.1:1/contract', { retries: 1 })).rejects.toThrow(
        'no broker of 127.0.0.1:1 can be reached: Connection error: connect ECONNREFUSED 127.0.0.1:1 (2 attempts)',
      );
    });
  },
);
