import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { postgresError } from '../../../../src/cluster/postgres/postgres-errors.ts';
import { CrawlError } from '../../../../src/core/domain/errors.ts';
import { loadPackage } from '../../../../src/core/packages/find-package.ts';
import { answered, BINARY } from '../program.ts';
import { type FuzzTarget, holds } from './target.ts';

const LATE_MS = 5_000;

/** A live view of a crawl of one seed, in a process of its own, so that its end is seen. */
class LiveView {
  readonly #folder = mkdtempSync(join(tmpdir(), 'incrawl-fuzz-'));
  #child: ChildProcess | null = null;
  #said = '';
  #port = 0;

  /** Starts it at first use. */
  async port(): Promise<number> {
    if (this.#child !== null) return this.#port;
    const [seeds, dir] = [join(this.#folder, 'seeds.txt'), join(this.#folder, 'state')];
    writeFileSync(seeds, 'https://a.example/\n');
    const { code, stderr } = await answered(['inject', seeds, '--dir', dir]);
    if (code !== 0) throw new Error(`inject ended with ${code}: ${stderr}`);
    const child = spawn(process.execPath, [BINARY, 'serve', '--port', '0', '--json', '--dir', dir], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr.on('data', (text: Buffer) => {
      this.#said = (this.#said + String(text)).slice(-4_000);
    });
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout.once('data', (text: Buffer) => resolve(String(text)));
      child.once('exit', () => reject(new Error(`serve ended: ${this.#said}`)));
    });
    this.#port = Number(new URL((JSON.parse(line) as { url: string }).url).port);
    return this.#port;
  }

  /** What it has said since the last question, when that tells of a fault. */
  fault(): string {
    const said = this.#said;
    this.#said = '';
    const isEnded = this.#child?.exitCode !== null || this.#child.signalCode !== null;
    return isEnded || /could not be made|^\s+at /m.test(said) ? said || 'it has ended' : '';
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface Talk {
  readonly answer: string;
  readonly isLate: boolean;
}

/** Sends bytes and the end of the stream; resolves when the server has ended it, too. */
function talk(port: number, input: Buffer): Promise<Talk> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.end(input));
    const end = (isLate: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ answer: Buffer.concat(chunks).toString('latin1'), isLate });
    };
    const timer = setTimeout(() => end(true), LATE_MS);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      // A stream of events goes on for as long as it is read.
      if (chunk.includes('text/event-stream')) end(false);
    });
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
  });
}

const PATHS =
  '/ /url?u= /changes?since= /changes.atom /due /hosts?host= /pages?prefix= /duplicates /near?u= /blocks?u= /diff?u=';
const MORE =
  '/stored?u= /compare?u= /screenshot?u= /events /metrics /healthz /workers /rounds /data/workers.json /assets/ /control/';

function serveTarget(): FuzzTarget {
  const view = new LiveView();
  return {
    name: 'serve',
    stepsPerByte: null,
    isSlow: true,
    runs: 60,
    words: [
      ...`${PATHS} ${MORE}`.split(' ').map((path) => `GET ${path}`),
      ...['POST ', 'HEAD ', 'OPTIONS * ', ' HTTP/1.1\r\n', ' HTTP/1.0\r\n', ' HTTP/2.0\r\n', '\r\n', '\r\n\r\n', '\n'],
      ...['Host: 127.0.0.1\r\n', 'Host: localhost:1\r\n', 'Host: evil.example\r\n', 'Host: [::1]\r\n', 'Host: \r\n'],
      ...[
        'Content-Length: 5\r\n',
        'Content-Length: -1\r\n',
        'Transfer-Encoding: chunked\r\n',
        '5\r\nhello\r\n',
        '0\r\n\r\n',
      ],
      ...[
        'Authorization: Basic Og==\r\n',
        'Origin: null\r\n',
        'Cookie: a=b\r\n',
        'Range: bytes=0-\r\n',
        'Upgrade: h2c\r\n',
      ],
      ...['Expect: 100-continue\r\n', 'If-None-Match: *\r\n', 'Accept-Encoding: gzip\r\n', 'Connection: close\r\n'],
      ...[
        '%0d%0ax-injected:%201',
        '..%2f..%2f..%2fetc%2fpasswd',
        '../../../../etc/passwd',
        '%00',
        '%',
        '%ff',
        '%zz',
        '\0',
      ],
      ...[
        '&from=',
        '&to=',
        '&page=',
        '&kind=',
        '&status=',
        '&segment=',
        '-1',
        '1e99',
        '99999999999999999999',
        'NaN',
        '__proto__',
      ],
      ...[
        'https%3A%2F%2Fa.example%2F',
        'http://a.example/',
        '//',
        '?',
        '#',
        '\xff',
        '[',
        ']',
        '\r',
        '\t',
        'x'.repeat(20_000),
      ],
    ],
    async check(input) {
      const { answer, isLate } = await talk(await view.port(), input);
      const fault = view.fault();
      holds(fault === '', 'it goes on, and finds no fault in itself', fault);
      holds(!isLate, 'what has ended is ended', answer.slice(0, 200));
      holds(!/^root:[^:\n]*:0:/m.test(answer), 'no file outside is read');
      // Bodies may show what was asked for; lines before the first empty one are the head.
      const [head = ''] = answer.split('\r\n\r\n', 1);
      const [, status = '400'] = /^HTTP\/1\.1 (\d{3}) /.exec(head) ?? [];
      holds(answer === '' || head.startsWith('HTTP/1.1 '), 'an answer of HTTP', head.slice(0, 100));
      holds(Number(status) < 500, 'no request is a fault of the server', head);
      holds(!/^x-injected:/im.test(head), 'no field is smuggled into an answer', head);
    },
    close: () => view.close(),
  };
}

/** Messages of a server: a letter, the length of the rest, the rest. */
const message = (letter: string, ...rest: readonly (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(rest.map((each) => Buffer.from(each as string)));
  const head = Buffer.alloc(5, letter);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => Buffer.concat([int16(value >>> 16), int16(value & 0xffff)]);

const READY = message('Z', 'I');
const SETTINGS = ['off', 'off', 'off', 'force_generic_plan', 'UTF8', '150000'];
/** What a server says to a new connection, and to the settings that it is asked for. */
const WELCOME = Buffer.concat([message('R', int32(0)), message('K', int32(1), int32(2)), READY]);
const SET = Buffer.concat([
  message(
    'T',
    int16(SETTINGS.length),
    ...SETTINGS.map((_, i) =>
      Buffer.concat([Buffer.from(`c${i}\0`), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0)]),
    ),
  ),
  message('D', int16(SETTINGS.length), ...SETTINGS.flatMap((value) => [int32(value.length), value])),
  message('C', 'SELECT 1\0'),
  READY,
]);

/** A server that is in order until the first statement of a call, which it answers by the bytes; then it ends. */
async function postgresServer(): Promise<{ readonly url: string; set(answer: Buffer): void; close(): void }> {
  let answer: Buffer = Buffer.alloc(0);
  const server = createServer((socket: Socket) => {
    const answers = [WELCOME, SET];
    socket.on('error', () => {});
    socket.on('data', () => {
      const next = answers.shift();
      if (next === undefined) socket.end(answer);
      else socket.write(next);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `postgres://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}/x`,
    set: (next) => {
      // node-postgres looks for the end of a list of texts behind the message, too, and never ends where there is none.
      answer = Buffer.concat([next, Buffer.alloc(2)]);
    },
    close: () => server.close(),
  };
}

/**
 * Whether a value of type `bytea` (17) may have a backslash that escapes nothing, at which the package postgres-bytea
 * never ends. A server writes none; whoever runs the server of a crawl is trusted.
 */
const mayNeverEnd = (input: Buffer): boolean => input.includes('\\') && input.includes(int32(17));

async function postgresTarget(): Promise<FuzzTarget> {
  const server = await postgresServer();
  return {
    name: 'postgres',
    // A message of a few bytes may claim 65,535 fields, which node-postgres looks for.
    stepsPerByte: 1_000_000,
    isSlow: true,
    runs: 100,
    words: [
      ...[
        '1\0\0\0\x04',
        '2\0\0\0\x04',
        'n\0\0\0\x04',
        'I\0\0\0\x04',
        's\0\0\0\x04',
        'Z\0\0\0\x05I',
        'Z\0\0\0\x05T',
        'Z\0\0\0\x05E',
      ],
      ...[
        'T\0\0\0\x1b\0\x01a\0',
        'D\0\0\0\x0b\0\x01\0\0\0\x01',
        'D\0\0\0\x0a\0\x01\xff\xff\xff\xff',
        'D\0\0\0\x06\xff\xff',
      ],
      ...[
        'C\0\0\0\x0dSELECT 1\0',
        'C\0\0\0\x05\0',
        'E\0\0\0\x20',
        'SERROR\0',
        'C57P01\0',
        'C53100\0',
        'C42P01\0',
        'Mmessage\0',
      ],
      ...[
        'N\0\0\0\x0c',
        'A\0\0\0\x10\0\0\0\x01',
        'S\0\0\0\x10a\0b\0',
        'R\0\0\0\x08\0\0\0\x03',
        'R\0\0\0\x17\0\0\0\x0a',
        'SCRAM-SHA-256\0\0',
      ],
      ...['G\0\0\0\x07', 'H\0\0\0\x07', 'W\0\0\0\x07', 'd\0\0\0\x05x', 'c\0\0\0\x04', 'v\0\0\0\x08', 't\0\0\0\x06\0\0'],
      ...['\0\0\0\0', '\0\0\0\x11', '\xff\xff\xff\xff', '\x7f\xff\xff\xff', '\x80\0\0\0', '\0\x10', '\0', 'a\0'],
    ],
    async check(input) {
      if (mayNeverEnd(input)) return;
      server.set(input);
      // Errors that end the process at any other time.
      let stray: unknown = null;
      const onStray = (error: unknown): void => {
        stray = error;
      };
      process.on('unhandledRejection', onStray);
      process.on('uncaughtException', onStray);
      const db = new Database(server.url);
      try {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<string>((resolve) => {
          timer = setTimeout(() => resolve('late'), LATE_MS);
        });
        const asked = db.once({ text: 'SELECT $1', values: ['x'] }).then(
          ({ rows }) => holds(Array.isArray(rows), 'rows, or an error', rows),
          (error: unknown) => {
            const known = postgresError(error);
            holds(known instanceof CrawlError && known.message !== '', 'an error that says what failed', String(error));
          },
        );
        const ended = await Promise.race([asked, late]).finally(() => clearTimeout(timer));
        holds(ended !== 'late', 'what has ended is not waited for');
      } finally {
        await db.close();
        process.off('unhandledRejection', onStray);
        process.off('uncaughtException', onStray);
      }
      holds(stray === null, 'no error is beside the call', String((stray as Error | null)?.stack ?? stray));
    },
    async close() {
      server.close();
    },
  };
}

/** The package that speaks to PostgreSQL is optional. */
function hasPg(): boolean {
  try {
    loadPackage('pg', 'PostgreSQL');
    return true;
  } catch {
    return false;
  }
}

export const serverTargets = async (): Promise<readonly FuzzTarget[]> => [
  serveTarget(),
  ...(hasPg() ? [await postgresTarget()] : []),
];
