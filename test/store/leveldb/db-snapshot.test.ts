import { existsSync, mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { afterAll, describe, expect, it } from 'vitest';
import { shareFile } from '../../../src/operations/state/state-copy.ts';
import { snapshotDb } from '../../../src/store/leveldb/db-snapshot.ts';

const root = mkdtempSync(join(tmpdir(), 'incrawl-snapshots-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SMALL = { writeBufferSize: 64 * 1024, maxFileSize: 64 * 1024 } as object;
const PADDING = 'x'.repeat(300);

async function entriesOf(dir: string): Promise<[string, string][]> {
  const db = new Level<string, string>(dir, SMALL);
  await db.open();
  try {
    return await db.iterator().all();
  } finally {
    await db.close();
  }
}

describe('snapshotDb', () => {
  it('holds all acknowledged batches, whole ones only, while the original is written and compacted; the original stays whole', async () => {
    const dir = join(root, 'busy');
    const db = new Level<string, string>(dir, SMALL);
    await db.open();
    let acknowledged = 0;
    let isOver = false;
    const write = async (): Promise<void> => {
      for (let round = 1; !isOver; round++) {
        // The same keys again and again: tables become obsolete and are removed under the copy.
        await db.batch(
          Array.from({ length: 50 }, (_, i) => ({
            type: 'put',
            key: `key ${i} ${round % 7}`,
            value: `${round} ${PADDING}`,
          })),
        );
        acknowledged = round;
      }
    };
    const writing = write();
    for (let take = 0; take < 25; take++) {
      const to = join(root, `take-${take}`);
      await new Promise((resolve) => setImmediate(resolve));
      const before = acknowledged;
      snapshotDb(dir, to, shareFile);
      const rounds = new Map<string, Set<string>>();
      for (const [key, value] of await entriesOf(to)) {
        const slot = key.split(' ')[2] as string;
        rounds.set(slot, (rounds.get(slot) ?? new Set()).add(value.split(' ')[0] as string));
      }
      for (const each of rounds.values()) expect(each.size).toBe(1);
      const newest = Math.max(0, ...[...rounds.values()].flatMap((each) => [...each].map(Number)));
      expect(newest).toBeGreaterThanOrEqual(before);
      rmSync(to, { recursive: true });
    }
    isOver = true;
    await writing;
    await db.close();
    const whole = await entriesOf(dir);
    expect(whole).toHaveLength(50 * Math.min(7, acknowledged));
    expect(whole.some(([, value]) => value.startsWith(`${acknowledged} `))).toBe(true);
  });

  it('never shares a table that the copy may write again: a number that the manifest does not know yet', async () => {
    const dir = join(root, 'stray');
    const db = new Level<string, string>(dir, SMALL);
    await db.open();
    await db.put('a', PADDING);
    await db.close();
    const numbers = readdirSync(dir)
      .map((name) => Number.parseInt(name.replace('MANIFEST-', ''), 10))
      .filter(Number.isInteger);
    const stray = `${String(Math.max(...numbers) + 1).padStart(6, '0')}.ldb`;
    writeFileSync(join(dir, stray), 'a table that is just being made');
    const shared: string[] = [];
    snapshotDb(dir, join(root, 'stray-copy'), (from, to) => {
      shared.push(from);
      shareFile(from, to);
    });
    expect(await entriesOf(join(root, 'stray-copy'))).toEqual([['a', PADDING]]);
    expect(shared.map((path) => path.slice(-stray.length))).not.toContain(stray);
  });

  it('gives up with a word when files go faster than they are copied', async () => {
    const dir = join(root, 'restless');
    const db = new Level<string, string>(dir, SMALL);
    await db.open();
    await db.put('a', 'b');
    await db.close();
    await entriesOf(dir);
    let number = 0;
    const share = (): void => {
      writeFileSync(join(dir, `${900_000 + ++number}.ldb`), '');
      if (number > 1) unlinkSync(join(dir, `${900_000 + number - 1}.ldb`));
    };
    expect(() => snapshotDb(dir, join(root, 'never'), share)).toThrow(expect.objectContaining({ code: 'db-locked' }));
    expect(existsSync(join(root, 'never', 'LOCK'))).toBe(false);
  });
});
