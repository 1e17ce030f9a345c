import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createPageConversion } from '../../../src/core/plugin-host/markdown/page-conversion.ts';
import { inheritedOptions } from '../../../src/core/plugin-host/parsing/document-process.ts';
import { decodeParsed } from '../../../src/core/plugin-host/parsing/encode-parsed.ts';
import { createPageParser } from '../../../src/core/plugin-host/parsing/page-parser.ts';
import type { ParsedRecord } from '../../../src/core/ports/segment-store.ts';
import { workDir } from '../../support/work-dir.ts';

const MIB = 1 << 20;
const MAX_MEMORY = 200 * MIB;

/** Its documents say what their parser does; it answers with the number of its process. */
const PLUGIN = `
let kept;
export default {
  name: 'parse-orders',
  api: 1,
  setup: () => ({
    types: ['application/x-order'],
    maxMemory: ${MAX_MEMORY},
    parse: (page) => {
      const [order, size] = Buffer.from(page.body).toString().split(' ');
      if (order === 'keep') kept = new Uint8Array(Number(size) * ${MIB}).fill(1);
      if (order === 'fill') console.error('an order to fill');
      if (order === 'fill') for (kept = []; ; ) kept.push(new Uint8Array(4 * ${MIB}).fill(1));
      if (order === 'wait') console.error('an order to wait');
      if (order === 'wait') for (;;);
      if (order === 'crash') process.kill(process.pid, 'SIGABRT');
      if (order === 'warn') console.error('an order to warn');
      page.result.title = page.result.text = page.result.mainText = String(process.pid);
    },
  }),
};
`;

const dir = workDir();
mkdirSync(join(dir, 'plugins/parse-orders'), { recursive: true });
writeFileSync(join(dir, 'plugins/parse-orders/plugin.mjs'), PLUGIN);
const warnings: string[] = [];
const parsing = {
  list: {
    ...DEFAULT_PLUGIN_LIST,
    entries: [...DEFAULT_PLUGIN_LIST.entries, { use: 'parse-orders', options: {}, where: 'test' }],
  },
  baseDir: dir,
  signature: 'simhash',
  limits: { maxTextChars: 1_000, maxOutlinks: 10, storeText: true },
  agent: 'incrawl',
  intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
};
const parser = createPageParser({
  parsing,
  threads: 2,
  timeoutMs: 5_000,
  log: { warn: (message) => void warnings.push(message) },
});
afterAll(() => parser.close());
beforeEach(() => void warnings.splice(0));

let index = 0;
async function parsed(contentType: string, body: string): Promise<ParsedRecord> {
  const page = { index: index++, url: 'http://a.example/', contentType, headers: {}, metadata: {} };
  return decodeParsed((await parser.parse({ ...page, body: Buffer.from(body) })).encoded);
}
const document = (order: string): Promise<ParsedRecord> => parsed('application/x-order', order);
const titleOf = ({ outcome }: ParsedRecord): string =>
  outcome.kind === 'parsed' ? (outcome.title ?? '') : `${outcome.code}: ${outcome.message}`;
const children = (): string[] =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('document-child'))
    .map((line) => line.trim().split(' ')[0]!);

describe('documents are parsed in a process of their own', { timeout: 60_000 }, () => {
  it('which starts with the first of them, and serves the next ones; other pages stay in threads', async () => {
    expect(titleOf(await parsed('text/html', '<title>A page</title><p>Words'))).toBe('A page');
    expect(children()).toEqual([]);
    const records = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 3 === 0 ? document('read') : parsed('text/html', `<title>${i}</title><p>Words`),
      ),
    );
    const [child] = children();
    expect(records.map(titleOf)).toEqual(Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? child : String(i))));
    expect(records.map((record) => record.index)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(parser.pending).toBe(0);
  });

  it('which ends when it takes more memory than the parser allows; the next document gets another', async () => {
    const before = titleOf(await document('read'));
    const [reading, filling] = [document('read'), document('fill')];
    // Pages come to the process by two threads: a document that is sent with another may overtake it.
    const begun = vi.waitFor(() => expect(warnings).toContain('an order to fill'), { timeout: 30_000 });
    await Promise.race([filling, begun.catch(() => {})]);
    const [, full, after] = await Promise.all([reading, filling, document('read')]);
    expect(full!.outcome).toMatchObject({ kind: 'parse-failed', code: 'parse-failed' });
    const found = /^parse-failed: parsing took (\d+) MiB of memory, more than the 200 MiB that the parser allows$/;
    expect(Number(found.exec(titleOf(full!))?.[1])).toBeLessThan(300);
    expect(titleOf(after!)).toMatch(/^\d+$/);
    expect(titleOf(after!)).not.toBe(before);
    expect(children()).toEqual([titleOf(after!)]);
  });

  it('which is replaced when a document leaves much of it taken', async () => {
    const first = titleOf(await document('read'));
    expect(titleOf(await document('keep 1'))).toBe(first);
    expect(titleOf(await document('keep 120'))).toBe(first);
    expect(titleOf(await document('read'))).not.toBe(first);
  });

  it('also when they are converted for an export', async () => {
    const said: unknown[] = [];
    const log = { warn: (message: string, fields?: object) => void said.push({ message, ...fields }) };
    const conversion = createPageConversion({ parsing, timeoutMs: 60_000, log });
    const page = {
      index: 0,
      url: 'http://a.example/',
      headers: {},
      metadata: {},
      form: 'text',
      extent: 'main',
    } as const;
    const of = (contentType: string, body: string): Promise<string | null> =>
      conversion.convert({ ...page, contentType, body: Buffer.from(body) });
    const first = await of('application/x-order', 'read');
    expect(children()).toContain(first);
    expect(await of('text/plain', 'words')).toBe('words');
    expect(await of('application/x-order', 'fill')).toBeNull();
    const message = 'a page could not be converted, and goes without';
    const error = expect.stringMatching(/^parsing took \d+ MiB of memory, more than the 200 MiB/);
    expect(said.at(-1)).toEqual({ message, url: page.url, error });
    expect(await of('application/x-order', 'read')).toMatch(/^\d+$/);
    await conversion.close();
    expect(children()).not.toContain(first);
  });

  it('whose end by itself, by a kill or by its time-out fails one document', async () => {
    expect(titleOf(await document('crash'))).toMatch(/^parse-failed: the process that parses documents ended \(SIG/);
    const killed = document('wait');
    const next = document('read');
    await expect.poll(() => warnings, { timeout: 30_000 }).toContain('an order to wait');
    const [child] = children();
    process.kill(Number(child), 'SIGKILL');
    expect(titleOf(await killed)).toMatch(/^parse-failed: .*\(SIGKILL\)/);
    expect(titleOf(await next)).toMatch(/^\d+$/);
    expect(titleOf(await document('wait'))).toBe('parse-timeout: parsing took longer than 5000 ms');
    expect(titleOf(await document('read'))).toMatch(/^\d+$/);
  });

  it('whose plugins are heard', async () => {
    await document('warn');
    await expect.poll(() => warnings.join()).toContain('an order to warn');
  });

  it('which ends with the parser', async () => {
    await document('read');
    expect(children()).toHaveLength(1);
    await parser.close();
    expect(children()).toEqual([]);
  });
});

it('a parser that states no sensible limit is refused', async () => {
  const list = { entries: [{ use: './bad.mjs', options: {}, where: 'test' }], winners: {} };
  writeFileSync(
    join(dir, 'bad.mjs'),
    "export default { name: 'parse-bad', api: 1, setup: () => ({ types: ['a/b'], maxMemory: '1G', parse() {} }) };",
  );
  const { loadParsing } = await import('../../../src/core/plugin-host/parsing/load-parsing.ts');
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  await expect(loadParsing({ ...parsing, list }, log)).rejects.toThrow(/maxMemory, bytes above 0, .*not 1G/);
});

it('the process has hooks and permissions of this one, not its program', () => {
  const options = [
    '--import',
    './hook.mjs',
    '--input-type=module',
    '-e',
    'f()',
    '--inspect=0',
    '--permission',
    '-C',
    'x',
  ];
  expect(inheritedOptions(options)).toEqual(['--import', './hook.mjs', '--permission', '-C', 'x']);
  expect(inheritedOptions(['--input-type', 'module', '--eval', 'f()', '--test'])).toEqual([]);
});
