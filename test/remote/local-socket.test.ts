import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAbsent } from '../../src/remote/local-socket.ts';
import { findHolder } from '../../src/remote/questions/ask-holder.ts';
import { workDir } from '../support/work-dir.ts';

it.each([
  ['ENOENT', true],
  ['ECONNREFUSED', true],
  ['ECONNRESET', true],
  ['EACCES', false],
  ['EMFILE', false],
])('of an address that cannot be connected to by %s, no process listens there: %s', (code, expected) => {
  expect(isAbsent(Object.assign(new Error(code), { code }))).toBe(expected);
});

it('a holder that ends while connections wait for it is none, or is gone, and never a failed connection', async () => {
  const path = join(workDir(), 'db.sock');
  for (let i = 0; i < 30; i += 1) {
    const server = createServer((socket) => socket.resetAndDestroy());
    await new Promise<void>((done) => server.listen(path, done));
    const asked = Promise.all(
      Array.from({ length: 20 }, async () => {
        const holder = await findHolder(path, 1_000);
        return holder === null ? 'none' : await holder.reader.changeFeed().catch(({ code }) => code as string);
      }),
    );
    await new Promise(setImmediate);
    await new Promise<void>((done) => server.close(() => done()));
    expect(['none', 'holder-gone']).toEqual(expect.arrayContaining([...new Set(await asked)]));
  }
});
