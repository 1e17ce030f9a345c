import { expect, it } from 'vitest';
import { Database } from '../../../src/cluster/postgres/database.ts';
import type { PgPoolClient, PgQuery, PgResult } from '../../../src/cluster/postgres/pg.ts';
import type { LoadPackage } from '../../../src/core/packages/find-package.ts';

const VERSION: PgResult = { rows: [[null, null, null, null, null, 150_000]], rowCount: 1 };

/** A package whose connections answer as they are told; `ended`: of each release, whether it closed the connection. */
function packageThat(answer: () => PgResult): { readonly load: LoadPackage; readonly ended: boolean[] } {
  const ended: boolean[] = [];
  const client = {
    query: async ({ text }: PgQuery) => (text.includes('set_config') ? VERSION : answer()),
    on: () => {},
    release: (end = false) => void ended.push(end !== false),
  } as unknown as PgPoolClient;
  class Pool {
    on(): void {}
    connect = async (): Promise<PgPoolClient> => client;
    end = async (): Promise<void> => {};
  }
  return { load: () => ({ module: { Pool } }) as unknown as ReturnType<LoadPackage>, ended };
}

const fails = (error: unknown) => (): never => {
  throw error;
};

it.each([
  ['rows', () => ({ rows: [['x']], rowCount: 1 }), '', false],
  ['an error of the statement', fails(Object.assign(new Error('relation "x"'), { code: '42P01' })), 'relation', false],
  ['a lost connection', fails(Object.assign(new Error('read'), { code: 'ECONNRESET' })), 'read', true],
  ['rows that fit no description', fails(new TypeError('Cannot read properties')), 'its answer cannot be read', true],
  ['several results', () => [] as unknown as PgResult, 'it answered one statement by several results', true],
])('after %s the connection is used again or closed', async (_, answer, message, isClosed) => {
  const { load, ended } = packageThat(answer);
  const db = new Database('postgres://x', load);
  const query = db.once({ text: 'SELECT 1' });
  if (message === '') expect((await query).rows).toEqual([['x']]);
  else await expect(query).rejects.toThrow(message);
  expect(ended).toEqual([isClosed]);
  await db.close();
});

it('a caller is told that an answer cannot be read as a failure of PostgreSQL', async () => {
  const { load } = packageThat(() => [] as unknown as PgResult);
  const db = new Database('postgres://x', load);
  await expect(db.query({ text: 'SELECT 1' })).rejects.toMatchObject({
    code: 'internal',
    message: 'PostgreSQL failed: it answered one statement by several results',
  });
  await db.close();
});
