import { appendFileSync, existsSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { appendLine, lastLines } from '../../../src/store/files/line-log.ts';

const root = mkdtempSync(join(tmpdir(), 'incrawl-lines-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const fresh = (): string => join(mkdtempSync(join(root, 'log-')), 'reports', 'x.jsonl');

describe('a bounded log of lines', () => {
  it('gives the last lines, oldest first, over the seam of two files', async () => {
    const file = fresh();
    expect(await lastLines(file, 5, 100)).toEqual([]);
    for (let i = 0; i < 25; i++) await appendLine(file, { i }, 100);
    expect(existsSync(`${file}.1`)).toBe(true);
    expect(await lastLines(file, 14, 100)).toEqual(Array.from({ length: 14 }, (_, k) => ({ i: 11 + k })));
    expect(await lastLines(file, 2, 12)).toEqual([{ i: 23 }, { i: 24 }]);
  });

  it('stays within its bound', async () => {
    const file = fresh();
    for (let i = 0; i < 200; i++) await appendLine(file, { i, text: 'x'.repeat(50) }, 1_000);
    expect(statSync(file).size).toBeLessThan(1_100);
    expect(statSync(`${file}.1`).size).toBeLessThan(1_100);
  });

  it('passes over a line that a crash tore, and loses none after it', async () => {
    const file = fresh();
    await appendLine(file, { i: 0 }, 1_000);
    await appendLine(file, { i: 1 }, 1_000);
    truncateSync(file, statSync(file).size - 4);
    await appendLine(file, { i: 2 }, 1_000);
    appendFileSync(file, '{"i":');
    await appendLine(file, { i: 3 }, 1_000);
    expect(await lastLines(file, 10, 100)).toEqual([{ i: 0 }, { i: 2 }, { i: 3 }]);
  });
});
