import { cpSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openAt, temporaryDir } from './temporary-db.ts';

const FACTS = Array.from({ length: 50 }, (_, i) => [`fact ${i}`, `${i}`] as const);
const logsIn = (dir: string): string[] => readdirSync(dir).filter((name) => /^\d+\.log$/.test(name));

/** A db as a killed process leaves it: all of it is in the write-ahead log. */
async function killedDb(): Promise<string> {
  const dir = await temporaryDir();
  const db = await openAt(dir);
  for (const [name, value] of FACTS) await db.write({ meta: { [name]: value } });
  const copy = join(dirname(dir), 'killed');
  cpSync(dir, copy, { recursive: true });
  await db.close();
  return copy;
}

async function factsIn(dir: string): Promise<(string | undefined)[]> {
  const db = await openAt(dir);
  try {
    return await Promise.all(FACTS.map(([name]) => db.meta(name)));
  } finally {
    await db.close();
  }
}

it.each(['cannot be opened', 'cannot be read'])(
  'a log that %s is an error, and is there when it can be',
  async (how) => {
    const dir = await killedDb();
    const away = join(dirname(dir), 'away.log');
    const target = join(dirname(dir), 'target.log');
    const [log] = logsIn(dir) as [string];
    renameSync(join(dir, log), away);
    symlinkSync(target, join(dir, log));
    // A folder can be opened, and not be read.
    if (how === 'cannot be read') mkdirSync(target);
    for (let tries = 0; tries < 3; tries++) {
      await expect(openAt(dir)).rejects.toMatchObject({ code: 'db-corrupt', message: expect.stringContaining('log') });
    }
    if (how === 'cannot be read') renameSync(target, join(dirname(dir), 'folder'));
    renameSync(away, target);
    expect(await factsIn(dir)).toEqual(FACTS.map(([, value]) => value));
    expect(readdirSync(dir).filter((name) => name.includes('kept'))).toEqual([]);
    expect(await factsIn(dir)).toEqual(FACTS.map(([, value]) => value));
  },
);

it('what was written before a log was put back stays older than the log', async () => {
  const dir = await killedDb();
  const db = await openAt(dir);
  for (const [name] of FACTS) await db.write({ meta: { [name]: 'older' } });
  await db.close();
  const again = await openAt(dir);
  for (const [name, value] of FACTS) await again.write({ meta: { [name]: value } });
  const copy = join(dirname(dir), 'again');
  cpSync(dir, copy, { recursive: true });
  await again.close();
  const away = join(dirname(dir), 'away.log');
  const [log] = logsIn(copy).slice(-1) as [string];
  renameSync(join(copy, log), away);
  symlinkSync(join(dirname(dir), 'target.log'), join(copy, log));
  await expect(openAt(copy)).rejects.toMatchObject({ code: 'db-corrupt' });
  renameSync(away, join(dirname(dir), 'target.log'));
  expect(await factsIn(copy)).toEqual(FACTS.map(([, value]) => value));
});
