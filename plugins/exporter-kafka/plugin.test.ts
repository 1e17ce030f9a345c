import { madeDocument, testHost } from 'incrawl/plugin-testing';
import { afterEach, describe, expect, it } from 'vitest';
import { kafkaAddress } from './address.ts';
import { type KafkaProducer, setNoTimerForNothing } from './client.ts';
import { faultOf, mayPass } from './faults.ts';
import { type KafkaMessage, pageMessage, removalMessage, sizeOf } from './messages.ts';
import plugin from './plugin.ts';
import { KafkaSender } from './sender.ts';

// A real broker is in test/system/plugins/kafka.

describe('addresses', () => {
  it.each([
    ['kafka://a:9092/pages', { brokers: ['a:9092'], topic: 'pages', isTls: false }],
    [
      'kafka+ssl://a.b-c:1,127.0.0.1:65535/a.B_9-',
      { brokers: ['a.b-c:1', '127.0.0.1:65535'], topic: 'a.B_9-', isTls: true },
    ],
  ])('%s', (given, address) => {
    expect(kafkaAddress(given, undefined)).toEqual(address);
    expect(kafkaAddress(null, given)).toEqual(address);
    expect(kafkaAddress(given, 'kafka://other:1/other')).toEqual(address);
  });

  it.each([
    ['https://a:9092/pages', 'expected an address such as kafka://host:9092,host2:9092/topic'],
    ['kafka://a/pages', 'expected an address such as'],
    ['kafka://a:0/pages', 'expected an address such as'],
    ['kafka://a:65536/pages', 'expected an address such as'],
    ['kafka://a:1,/pages', 'expected an address such as'],
    ['kafka://a:1', 'the name of a topic'],
    ['kafka://a:1/', 'the name of a topic'],
    ['kafka://a:1/..', 'the name of a topic'],
    ['kafka://a:1/b/c', 'the name of a topic'],
    [`kafka://a:1/${'b'.repeat(250)}`, 'the name of a topic'],
    ['kafka://me:secret@a:1/pages', 'no name and password'],
  ])('refuses %s', (given, said) => {
    expect(() => kafkaAddress(given, undefined)).toThrow(said);
    expect(() => kafkaAddress('kafka://me:secret@a:1/pages', undefined)).not.toThrow('secret');
  });

  it('one is needed', () => expect(() => kafkaAddress(null, undefined)).toThrow('--output URL'));
});

describe('messages', () => {
  it('have the URL as key, the page as value, and what to sort them by as headers', () => {
    const page = madeDocument('http://e.example/', { digest: 'ab', fetchedAt: '2026-01-01T00:00:00.000Z', text: 'é' });
    const message = pageMessage(page);
    expect(message.headers).toEqual({
      kind: 'page',
      state: 'fetched',
      digest: 'ab',
      fetchedAt: '2026-01-01T00:00:00.000Z',
    });
    expect([message.key, JSON.parse(message.value ?? '')]).toEqual([page.url, page]);
    const tombstone = removalMessage({ url: page.url, state: 'gone', target: null, contentType: 'text/html' });
    expect(tombstone).toEqual({ key: page.url, value: null, headers: { kind: 'removed', state: 'gone' } });
    expect(sizeOf(tombstone)).toBe('http://e.example/'.length + 'kindremovedstategone'.length);
    expect(sizeOf({ key: 'é', value: 'é', headers: { a: 'é' } })).toBe(7);
  });
});

/** A broker that takes batches up to a size; the first part of a batch that it refuses is stored all the same. */
class FakeBroker {
  readonly stored: string[] = [];
  readonly batches: number[] = [];
  producers = 0;
  open = 0;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  connect = async (): Promise<KafkaProducer> => {
    this.producers++;
    this.open++;
    return { connect: async () => {}, send: async () => {}, disconnect: async () => void this.open-- };
  };

  send = async (_: KafkaProducer, messages: readonly KafkaMessage[]): Promise<void> => {
    this.batches.push(messages.length);
    if (messages.reduce((sum, message) => sum + sizeOf(message), 0) > this.limit) {
      throw Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });
    }
    this.stored.push(...messages.map(({ key }) => key));
  };
}

const message = (key: string, bytes = 100): KafkaMessage => ({
  key,
  value: 'x'.repeat(bytes - key.length),
  headers: {},
});

async function sent(broker: FakeBroker, messages: readonly KafkaMessage[], batchBytes = 1_000, batchMessages = 4) {
  const sender = new KafkaSender({ batchBytes, batchMessages }, broker, await broker.connect());
  for (const each of messages) await sender.add(each);
  await sender.flush();
  await sender.disconnect();
  return sender;
}

describe('batches', () => {
  it('are bounded by bytes and by messages', async () => {
    const broker = new FakeBroker(10_000);
    const large = [message('l', 5_000), message('m', 900)];
    await sent(broker, [...Array.from({ length: 5 }, (_, i) => message(`${i}`)), ...large]);
    expect(broker.batches).toEqual([4, 1, 1, 1]);
    expect(broker.stored).toEqual(['0', '1', '2', '3', '4', 'l', 'm']);
  });

  it('that are too large are halved in their order, each time by a producer of its own', async () => {
    const broker = new FakeBroker(250);
    const sizes = [100, 100, 100, 400, 100, 100, 100];
    const sender = await sent(
      broker,
      sizes.map((size, i) => message(`${i}`, size)),
      10_000,
      10,
    );
    expect(broker.stored).toEqual(['0', '1', '2', '4', '5', '6']);
    expect([sender.refused, sender.examples]).toEqual([1, ['3 (400 bytes)']]);
    // One for each refusal: of 7, of 3, of 4, of 2 and of 1.
    expect([broker.producers, broker.open]).toEqual([1 + 5, 0]);
  });

  it('that fail for another reason end the export', async () => {
    const broker = new FakeBroker(10_000);
    broker.send = async () => Promise.reject(new Error('broken'));
    await expect(sent(broker, [message('a')])).rejects.toThrow('broken');
  });
});

describe('faults', () => {
  const address = { brokers: ['a:1', 'b:2'], topic: 'pages', isTls: false };
  const error = (name: string, more: object, cause?: Error): Error =>
    Object.assign(new Error('it said so', cause && { cause }), { name, ...more });
  const protocol = (type: string, retriable = false) => error('KafkaJSProtocolError', { type, retriable });
  const givenUp = (cause: Error) => error('KafkaJSNumberOfRetriesExceeded', { retriable: false }, cause);

  it.each([
    [protocol('UNKNOWN_TOPIC_OR_PARTITION', true), 'there is no topic "pages" at a:1, b:2: create it first'],
    [givenUp(protocol('TOPIC_AUTHORIZATION_FAILED')), 'grant Describe and Write on it'],
    [protocol('CLUSTER_AUTHORIZATION_FAILED'), 'grant IdempotentWrite'],
    [error('KafkaJSSASLAuthenticationError', {}), 'a:1, b:2 did not take name and password by PLAIN: it said so'],
    [error('KafkaJSConnectionClosedError', {}), 'is it a port for TLS (kafka+ssl://)?'],
    [givenUp(error('KafkaJSConnectionError', {})), 'no broker of a:1, b:2 can be reached: it said so (3 attempts)'],
    [protocol('NOT_ENOUGH_REPLICAS', true), 'a:1, b:2, topic "pages": it said so (3 attempts)'],
  ])('%s', (cause, said) => {
    const fault = faultOf(cause, 3, address, 'PLAIN');
    expect(fault.message).toContain(said);
    expect(fault.cause).toBe(cause);
  });

  it('that may pass are told by the first of them', () => {
    const closed = error('KafkaJSConnectionError', { retriable: true, code: 'ECONNREFUSED' });
    const untrusted = error('KafkaJSConnectionError', { retriable: true, code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const errors = [
      closed,
      givenUp(closed),
      protocol('NOT_ENOUGH_REPLICAS', true),
      untrusted,
      givenUp(protocol('X')),
      'x',
    ];
    expect(errors.map(mayPass)).toEqual([true, true, true, false, false, false]);
  });
});

describe('exporter-kafka', () => {
  afterEach(() => {
    delete process.env.INCRAWL_KAFKA_USERNAME;
    delete process.env.INCRAWL_KAFKA_PASSWORD;
  });

  it.each([
    [{ certFile: 'a' }, {}, 'certFile and keyFile go together'],
    [{ caFile: 'a' }, {}, 'certificates need an address of kafka+ssl://'],
    [{}, { INCRAWL_KAFKA_USERNAME: 'me' }, 'name and password go together'],
    [{}, { INCRAWL_KAFKA_USERNAME: 'me', INCRAWL_KAFKA_PASSWORD: 'x' }, 'plain sends the password as it is'],
  ])('refuses %j with %j before anything is sent', async (options, env, said) => {
    Object.assign(process.env, env);
    const host = { ...testHost, readTextFile: (file: string) => file };
    const exporter = await plugin.setup(host, plugin.options?.parse(options) as never);
    const target = { place: 'kafka://127.0.0.1:1/pages' };
    if (!('open' in exporter)) throw new Error('it opens a sink');
    const { open } = exporter;
    await expect((async () => open(target as never))()).rejects.toThrow(said);
  });

  it('kafkajs sets no timer where no request waits', () => {
    const timers: number[] = [];
    class Queue {
      pending: number[] = [];
      scheduleCheckPendingRequests(): void {
        timers.push(this.pending.length);
      }
    }
    setNoTimerForNothing(Queue);
    const queue = new Queue();
    queue.scheduleCheckPendingRequests();
    queue.pending = [1];
    queue.scheduleCheckPendingRequests();
    expect(timers).toEqual([1]);
  });
});
