import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { unpack } from 'msgpackr';
import { afterEach, expect, it } from 'vitest';
import { createPageParser } from '../../src/plugin-host/page-parser.ts';
import { DEFAULT_PLUGIN_LIST } from '../../src/plugin-host/plugin-list.ts';

let workers = 0;
const count = (): number => workers++;

afterEach(() => process.off('worker', count));

it('the first worker starts with the first page, and no other for the pages that follow one by one', async () => {
  process.on('worker', count);
  const parser = createPageParser({
    parsing: {
      list: DEFAULT_PLUGIN_LIST,
      baseDir: process.cwd(),
      signature: 'simhash',
      limits: { maxTextChars: 1_000, maxOutlinks: 10, storeText: true },
      agent: 'incrawl',
      intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
    },
    threads: 2,
    timeoutMs: 60_000,
  });
  await setImmediate();
  expect(workers).toBe(0);
  const started = once(process, 'worker');
  for (const index of [0, 1]) {
    const body = Buffer.from(`<title>Page ${index}</title><p>Some words`);
    const page = { index, url: 'http://a.org/', contentType: 'text/html', headers: {}, body, metadata: {} };
    const { encoded, failed } = await parser.parse(page);
    expect(failed).toBe(false);
    expect(unpack(encoded)).toMatchObject({ index, outcome: { kind: 'parsed', title: `Page ${index}` } });
  }
  await started;
  expect(workers).toBe(1);
  await parser.close();
});
