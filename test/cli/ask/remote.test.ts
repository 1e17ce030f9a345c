import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config/load.ts';
import { CrawlError } from '../../../src/core/domain/errors.ts';
import { openReader, type RecordView } from '../../../src/crawler/index.ts';
import type { CrawlReader } from '../../../src/query/questions.ts';
import { answerQuestions } from '../../../src/remote/questions/answer-questions.ts';
import { askEither } from '../../../src/remote/questions/ask-either.ts';
import { findHolder } from '../../../src/remote/questions/ask-holder.ts';
import { lineOf, PROTOCOL_VERSION } from '../../../src/remote/questions/protocol.ts';

const root = mkdtempSync(join(tmpdir(), 'incrawl-remote-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let sockets = 0;
const newPath = (): string => join(root, `${sockets++}.sock`);
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const record = (n: number): RecordView => ({ url: `https://a.example/${n}`, title: 'x'.repeat(2_000) }) as RecordView;
const REPORT = { index: 'records', range: 'everything', rowsRead: 3, returned: 3 } as const;

/** Answers `records` with so many, and counts what became of the answers. */
function readerOf(count: number) {
  const seen = { yielded: 0, ended: 0, asked: [] as unknown[] };
  const counts = new EventEmitter();
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await once(counts, 'count');
  };
  const reader = {
    async record(url: string) {
      seen.asked.push(url);
      if (url === 'bad') throw new CrawlError('url-invalid', 'bad: no URL');
      if (url === 'odd') throw new TypeError('a fault');
      return url === 'none' ? null : record(1);
    },
    async *records(query: unknown) {
      seen.asked.push(query);
      try {
        for (let n = 0; n < count; n++) {
          seen.yielded++;
          counts.emit('count');
          yield record(n);
          if (n % 50 === 0) await new Promise(setImmediate);
        }
        return REPORT;
      } finally {
        seen.ended++;
        counts.emit('count');
      }
    },
  } as unknown as CrawlReader;
  return { reader, seen, until };
}

async function served(count: number) {
  const path = newPath();
  const { reader, seen, until } = readerOf(count);
  const server = await answerQuestions(path, reader, 50);
  closers.push(() => server.close());
  const holder = await findHolder(path);
  if (holder === null) throw new Error('no process answers');
  return { path, server, seen, until, holder };
}

describe('questions to the process that holds the crawl db', () => {
  it('values, null and errors arrive unchanged', async () => {
    const { holder, seen, path } = await served(0);
    expect(await holder.reader.record('x')).toEqual(record(1));
    expect(await holder.reader.record('none')).toBeNull();
    await expect(holder.reader.record('bad')).rejects.toEqual(new CrawlError('url-invalid', 'bad: no URL'));
    await expect(holder.reader.record('odd')).rejects.toMatchObject({ code: 'internal', message: 'a fault' });
    expect(seen.asked).toEqual(['x', 'none', 'bad', 'odd']);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('a silent holder is not waited for beyond the patience of the asker', async () => {
    const path = newPath();
    const stopped = createServer(() => {}).listen(path);
    closers.push(() => stopped.close());
    await once(stopped, 'listening');
    const holder = await findHolder(path, 20);
    await expect(holder?.reader.record('x')).rejects.toMatchObject({
      code: 'holder-gone',
      message: expect.stringContaining('does not answer'),
    });
    await expect(holder?.reader.records({}).next()).rejects.toMatchObject({ code: 'holder-gone' });
  });

  it('lists arrive item by item, then their return value', async () => {
    const { holder, seen } = await served(3);
    const items = holder.reader.records({ host: 'a.example' });
    expect(holder.hasAnswered()).toBe(false);
    const got: RecordView[] = [];
    for (;;) {
      const step = await items.next();
      if (step.done) {
        expect(step.value).toEqual(REPORT);
        break;
      }
      got.push(step.value);
    }
    expect(got).toEqual([record(0), record(1), record(2)]);
    expect(holder.hasAnswered()).toBe(true);
    expect(seen.asked).toEqual([{ host: 'a.example' }]);
  });

  it('a question that needs indexes which the holder has not opened is refused as held', async () => {
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const configured = async () => ({ config: defaultConfig(), baseDir: root });
    const path = newPath();
    const server = await answerQuestions(path, openReader({ dir: join(root, 'none'), log, configured }));
    closers.push(() => server.close());
    const holder = await findHolder(path);
    await expect(holder?.reader.seen()).rejects.toMatchObject({
      code: 'db-locked',
      message: expect.stringContaining(String(process.pid)),
    });
  });

  it('an argument that is not given stays so', async () => {
    const { holder, seen } = await served(1);
    for await (const _ of holder.reader.records(undefined)) break;
    expect(seen.asked).toEqual([undefined]);
  });

  it('several are answered at once', async () => {
    const { holder } = await served(500);
    const counts = await Promise.all(
      [1, 2, 3].map(async () => {
        let count = 0;
        for await (const _ of holder.reader.records()) count++;
        return count;
      }),
    );
    expect(counts).toEqual([500, 500, 500]);
  });

  it('a reader that is slow makes the answer wait, and one that leaves ends it', async () => {
    const { holder, seen, until } = await served(100_000);
    const items = holder.reader.records();
    await items.next();
    await until(() => seen.yielded > 100);
    // 200 MB would be on their way otherwise; the buffers of sockets hold a few.
    let before = -1;
    while (before !== seen.yielded) {
      before = seen.yielded;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(seen.yielded).toBeLessThan(10_000);
    await items.return(REPORT);
    await until(() => seen.ended === 1);
    expect(seen.yielded).toBeLessThan(10_000);
  });

  it('closing reports a cut answer to readers under way, and waits until none reads', async () => {
    const { holder, seen, server } = await served(10_000_000);
    const items = holder.reader.records();
    await items.next();
    const closed = server.close().then(() => seen.ended);
    const rest = (async () => {
      for await (const _ of items);
    })();
    await expect(rest).rejects.toMatchObject({ code: 'holder-gone' });
    expect(await closed).toBe(1);
    await expect(holder.reader.record('x')).rejects.toMatchObject({ code: 'holder-gone' });
  });

  it('closing does not wait for ever for a reader that takes nothing', async () => {
    const { path, server, seen, until } = await served(1_000_000);
    const client = connect(path);
    client.on('error', () => {});
    client.write(lineOf({ incrawl: PROTOCOL_VERSION, ask: 'records', args: [] }));
    client.pause();
    await until(() => seen.yielded > 10);
    await server.close();
    expect(seen.ended).toBe(1);
    client.destroy();
  });

  it('a holder that is killed midway is reported as gone', async () => {
    const path = newPath();
    const clients: Socket[] = [];
    const server = createServer((client) => {
      clients.push(client.on('error', () => {}));
      client.once('data', () => client.write(`${lineOf({ item: record(1) })}{"item":{"url"`, () => client.destroy()));
    });
    server.listen(path);
    await once(server, 'listening');
    closers.push(() => void server.close());
    const holder = await findHolder(path);
    const items = holder!.reader.records();
    expect((await items.next()).value).toEqual(record(1));
    await expect(items.next()).rejects.toMatchObject({ code: 'holder-gone' });
  });

  it.each([
    ['{"incrawl":99,"ask":"stats","args":[]}', 'answers protocol 1, not 99'],
    ['{"incrawl":1,"ask":"crawl","args":[]}', 'does not know the question \\"crawl\\"'],
    ['{"incrawl":1,"ask":"__proto__","args":[]}', 'does not know the question'],
    ['{"incrawl":1,"ask":"stats"}', 'does not know the question'],
    ['null', 'answers protocol 1'],
    ['no json', 'the question is not JSON'],
    ['x'.repeat(70_000), 'the question is too long'],
  ])('%.40s is refused', async (question, message) => {
    const { path } = await served(0);
    const client = connect(path);
    let text = '';
    client.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    client.on('error', () => {});
    client.write(`${question}\n`);
    await once(client, 'close');
    expect(text).toContain(message);
    expect(text).toContain('usage-invalid');
  });
});

describe('asking here or there', () => {
  const quietly = { onSilence: () => {} };
  const locked = (): Promise<never> => Promise.reject(new CrawlError('db-locked', 'held by process 7'));

  it('a crawl db that no process holds is opened here', async () => {
    const asked = await askEither<string>(
      root,
      (use) => use({} as CrawlReader),
      async () => 'here',
      quietly,
    );
    expect(asked).toBe('here');
  });

  it('the error stays when the holder does not answer', async () => {
    await expect(
      askEither(join(root, 'nowhere'), locked, async () => 'there', { ...quietly, patienceMs: 50 }),
    ).rejects.toMatchObject({
      code: 'db-locked',
      message: 'held by process 7',
    });
  });

  it('a holder answers; when it ends before any answer, the question is asked again', async () => {
    const dir = mkdtempSync(join(root, 'd'));
    const { reader } = readerOf(1);
    const server = await answerQuestions(join(dir, 'db.sock'), reader);
    let isHeld = true;
    const here = async <Value>(use: (own: CrawlReader) => Promise<Value>): Promise<Value> =>
      isHeld ? locked() : use({ record: async () => null } as unknown as CrawlReader);
    expect(await askEither(dir, here, (own: CrawlReader) => own.record('x'), quietly)).toEqual(record(1));
    const late = askEither(
      dir,
      here,
      async (own: CrawlReader) => {
        if (isHeld) {
          isHeld = false;
          await server.close();
        }
        return own.record('x');
      },
      quietly,
    );
    expect(await late).toBeNull();
  });

  it('a wait for a silent holder is noted', async () => {
    const dir = mkdtempSync(join(root, 'd'));
    let asker: Socket | null = null;
    const stopped = createServer((socket) => {
      asker = socket.on('error', () => {});
    }).listen(join(dir, 'db.sock'));
    closers.push(() => stopped.close());
    await once(stopped, 'listening');
    let asked: Promise<RecordView | null> | null = null;
    const reported = await new Promise<string>((onSilence) => {
      asked = askEither(dir, locked, (own: CrawlReader) => own.record('x'), { onSilence, silenceMs: 20 });
    });
    expect(reported).toContain('has not answered so far');
    (asker as Socket | null)?.write(lineOf({ end: record(1) }));
    expect(await asked).toEqual(record(1));
  });
});
