import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { unpack } from 'msgpackr';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createPageParser } from '../../../src/core/plugin-host/parsing/page-parser.ts';

let workers = 0;
const count = (): number => workers++;

afterEach(() => process.off('worker', count));

const parsing = {
  list: DEFAULT_PLUGIN_LIST,
  baseDir: process.cwd(),
  signature: 'simhash',
  limits: { maxTextChars: 1_000, maxOutlinks: 10, storeText: true },
  agent: 'incrawl',
  intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
};
const log = { warn: (message: string) => expect.unreachable(message) };
const page = { index: 0, url: 'http://a.org/', contentType: 'text/html', headers: {}, metadata: {} };

it('the first worker starts with the first page, and no other for the pages that follow one by one', async () => {
  process.on('worker', count);
  const parser = createPageParser({
    parsing,
    threads: 2,
    timeoutMs: 60_000,
    log,
  });
  await setImmediate();
  expect(workers).toBe(0);
  const started = once(process, 'worker');
  for (const index of [0, 1]) {
    const body = Buffer.from(`<title>Page ${index}</title><p>Some words`);
    const { encoded, failed } = await parser.parse({ ...page, index, body });
    expect(failed).toBe(false);
    expect(unpack(encoded)).toMatchObject({ index, outcome: { kind: 'parsed', title: `Page ${index}` } });
  }
  await started;
  expect(workers).toBe(1);
  await parser.close();
});

it('the time of a page does not begin before its worker has started', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const parser = createPageParser({ parsing, threads: 1, timeoutMs: 100, log });
  const parsed = parser.parse({ ...page, body: Buffer.from('<p>Some words') });
  // Nothing of the worker can have come yet: this thread has not given way.
  vi.advanceTimersByTime(60_000);
  expect(await parsed).toMatchObject({ failed: false });
  await parser.close();
});

it('a worker that never starts ends the work, and is no fault of a page', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const parser = createPageParser({ parsing, threads: 1, timeoutMs: 100, log });
  const parsed = parser.parse({ ...page, body: Buffer.from('<p>Some words') });
  vi.advanceTimersByTime(120_000);
  await expect(parsed).rejects.toMatchObject({
    code: 'plugin-broken',
    message: 'plugins of the parser threads: none was ready within 120 s; does the setup of a plugin never end?',
  });
  await parser.close();
});
