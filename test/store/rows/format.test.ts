import { expect, it } from 'vitest';
import type { Log } from '../../../src/core/ports/log.ts';
import { openStoredRows } from '../../../src/store/leveldb/open-rows.ts';
import { FORMAT_VERSION_FACT, ROW } from '../../../src/store/rows/codecs/keys.ts';
import { checkFormat, type FormatStep, migrate, writeFormat } from '../../../src/store/rows/format.ts';
import type { Rows } from '../../../src/store/rows/rows.ts';
import { SILENT, temporaryDir } from '../leveldb/temporary-db.ts';

const FORMAT = ROW.meta + FORMAT_VERSION_FACT;
const at = async (rows: Rows, key: string): Promise<string | undefined> => (await rows.get(key))?.toString();

/** Appends its number to a row, which is the row of the fact that the format before wrote. */
const step =
  (number: number): FormatStep =>
  async (rows) =>
    rows.put(ROW.meta + number, Buffer.from(`${await at(rows, ROW.meta + (number - 1))}, then ${number}`));

it('rows of an earlier format are brought up to date step by step, from where they are', async () => {
  const rows = await openStoredRows({ dir: await temporaryDir(), log: SILENT });
  await rows.put(`${ROW.meta}1`, Buffer.from('as it was'));
  const warned: unknown[] = [];
  const log: Log = { ...SILENT, warn: (_, fields) => warned.push(fields) };
  await migrate(rows, await checkFormat(rows, 'x'), log, [step(2), step(3)]);
  expect(await at(rows, `${ROW.meta}3`)).toBe('as it was, then 2, then 3');
  expect(await at(rows, FORMAT)).toBe('3');
  await migrate(rows, 3, log, [step(2), step(3), step(4)]);
  expect(await at(rows, `${ROW.meta}4`)).toBe('as it was, then 2, then 3, then 4');
  expect(warned).toEqual([1, 2, 3].map((from) => ({ from, to: from + 1 })));
  // This program has none of these steps.
  await expect(checkFormat(rows, 'x')).rejects.toMatchObject({ code: 'db-version' });
  await rows.close();
});

it('a step that is cut short is run again, and none before it', async () => {
  const rows = await openStoredRows({ dir: await temporaryDir(), log: SILENT });
  const ran: number[] = [];
  const counted =
    (number: number, run: FormatStep): FormatStep =>
    (given) => {
      ran.push(number);
      return run(given);
    };
  const killed: FormatStep = () => Promise.reject(new Error('killed'));
  await expect(migrate(rows, 1, SILENT, [counted(2, step(2)), counted(3, killed)])).rejects.toThrow('killed');
  expect(await at(rows, FORMAT)).toBe('2');
  await migrate(rows, 2, SILENT, [counted(2, step(2)), counted(3, step(3))]);
  expect(ran).toEqual([2, 3, 3]);
  expect(await at(rows, FORMAT)).toBe('3');
  await rows.close();
});

it('rows of the present format are left as they are', async () => {
  const rows = await openStoredRows({ dir: await temporaryDir(), log: SILENT });
  await writeFormat(rows);
  const before = await rows.iterator({}).all();
  await migrate(rows, await checkFormat(rows, 'x'), SILENT);
  expect(await rows.iterator({}).all()).toEqual(before);
  await rows.close();
});
