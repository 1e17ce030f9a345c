import { type AddressInfo, createServer, type Socket } from 'node:net';
import { connectRedis } from '../../../../src/adapters/redis/connect.ts';
import { redisLeases } from '../../../../src/adapters/redis/leases.ts';
import { RedisRows } from '../../../../src/adapters/redis/rows.ts';
import { CrawlError } from '../../../../src/domain/errors.ts';
import { type FuzzTarget, holds } from './target.ts';

const COMMANDS = /(?:^|\r\n)\*\d+\r\n\$\d+\r\n(\w+)/g;
const GREETINGS: Readonly<Record<string, string>> = {
  info: '$9\r\nloading:0\r\n',
  client: '+OK\r\n',
};
/** Of one iteration: a server may go on for ever with ever larger keys. */
const MAX_ROWS = 50;

/**
 * ioredis 5.11 and 6.0 throw out of reach, which ends the process, at a null that answers no command, and at lengths
 * that are no numbers or above 2 ** 32 - 1. Nulls are asked for where it is certain that they are in an array: what
 * looks like one later may be part of a string.
 */
const ODD_LENGTH = /[$*](?!\d{1,8}\r)[^\r]*\r\n?/g;
const ARRAY_BEGINS = /^\*[1-9]\d{0,7}\r\n$/;
const bearable = (input: Buffer): Buffer => {
  const text = input.toString('latin1');
  const answer = text.replace(ODD_LENGTH, (length, at: number) =>
    /^[$*]-1\r\n$/.test(length) && ARRAY_BEGINS.test(text.slice(0, at)) ? length : '+\r\n',
  );
  return Buffer.from(answer, 'latin1');
};

/** A server that greets as Redis does, answers one connection by the bytes given, and the next ones by errors. */
async function answeringRedis(): Promise<{ readonly url: string; set(answer: Buffer): void; close(): void }> {
  let answer: Buffer | null = null;
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      for (const [, command = ''] of chunk.toString('latin1').matchAll(COMMANDS)) {
        const greeting = GREETINGS[command.toLowerCase()];
        if (greeting !== undefined) socket.write(greeting);
        else if (answer === null) socket.write('-ERR no more\r\n');
        else {
          socket.end(answer);
          answer = null;
          return;
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (next) => {
      answer = bearable(next);
    },
    close: () => server.close(),
  };
}

const KEYS = ['a', 'b'];

/** What a crawl db in Redis does with whatever answers at that address. */
export async function redisTarget(): Promise<FuzzTarget> {
  const server = await answeringRedis();

  /** The result, or nothing where it was refused as it should be. */
  const settled = async <Result>(done: Promise<Result>): Promise<Result | undefined> => {
    try {
      return await done;
    } catch (error) {
      holds(error instanceof CrawlError, 'a fault that says what it is', String(error));
      return undefined;
    }
  };

  return {
    name: 'redis',
    // Each answer costs a connection, and a pause before the next.
    runs: 10,
    words: [
      ...['*1\r\n', '*2\r\n', '*5\r\n', '*-1\r\n', '*0\r\n', '$-1\r\n', '$0\r\n\r\n', '$1\r\na\r\n', '$1\r\nb\r\n'],
      ...[
        ':0\r\n',
        ':1\r\n',
        ':-1\r\n',
        '$2\r\n01\r\n',
        '+OK\r\n',
        '-ERR x\r\n',
        '-NOSCRIPT x\r\n',
        '-MOVED 1 a:1\r\n',
      ],
      ...[
        '*5\r\n:1\r\n*1\r\n$1\r\na\r\n*1\r\n$1\r\n1\r\n*0\r\n*0\r\n',
        '*99999999\r\n',
        '$536870912\r\n',
        'HTTP/1.1 400\r\n',
      ],
    ],
    async check(input) {
      const redis = await connectRedis(server.url);
      const rows = new RedisRows({ redis, name: 'fuzz', token: '1' });
      try {
        for (const ask of [
          async () => {
            const values = await settled(rows.getMany(KEYS));
            holds(values === undefined || values.length === KEYS.length, 'a value for each key', values);
            for (const value of values ?? []) holds(value === undefined || Buffer.isBuffer(value), 'bytes', value);
          },
          async () => {
            const are = await settled(rows.hasMany(KEYS));
            holds(are === undefined || are.length === KEYS.length, 'an answer for each key', are);
          },
          async () => {
            const iterator = rows.iterator({ gte: 'a', lt: 'c', limit: MAX_ROWS });
            const found = await settled(iterator.all());
            holds((found?.length ?? 0) <= MAX_ROWS, 'no more rows than asked for', found?.length);
            for (const [key] of found ?? []) holds(key >= 'a' && key < 'c', 'rows of the range', key);
          },
          () => settled(rows.put('a', Buffer.from('1'))),
          async () => {
            const lease = await settled(redisLeases(redis).take('fuzz', 'me', 1_000));
            const said = lease === undefined ? '' : 'token' in lease ? lease.token : lease.holder;
            holds(typeof said === 'string', 'a token or a holder', lease);
          },
        ]) {
          server.set(input);
          await ask();
        }
      } finally {
        redis.disconnect();
      }
    },
    async close() {
      server.close();
    },
  };
}
