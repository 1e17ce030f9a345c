import { Level } from 'level';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CrawlDbBatch } from '../../../src/core/ports/crawl-db.ts';
import { crawlDbError } from '../../../src/store/leveldb/holder.ts';
import { LevelRows } from '../../../src/store/leveldb/open-rows.ts';
import type { Rows } from '../../../src/store/rows/rows.ts';
import { BatchWriter } from '../../../src/store/rows/writing/batch-writer.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { temporaryDir } from './temporary-db.ts';

const insert = (path: string): CrawlDbBatch => ({
  puts: [{ datum: visitedDatum(`https://a.example/${path}`), previous: null }],
});
const diskFull = expect.objectContaining({
  code: 'disk-full',
  message: expect.stringContaining('open the crawl db again'),
});

describe('a write that fails', () => {
  let rows: Rows;
  let isFull = false;
  let writer: BatchWriter;

  /** A LevelDB whose batches fail while `isFull`, as they do on a full disk. */
  beforeEach(async () => {
    isFull = false;
    const level = new Level<string, Buffer>(await temporaryDir(), { valueEncoding: 'buffer' });
    await level.open();
    const open: () => { write(options: object): Promise<void> } = level.batch.bind(level);
    const failing = () => {
      const batch = open();
      const write = batch.write.bind(batch);
      batch.write = async (options) => {
        if (isFull) throw new Error('IO error: /db/000003.log: No space left on device');
        return write(options);
      };
      return batch;
    };
    Object.assign(level, { batch: failing });
    rows = new LevelRows(level);
    writer = await BatchWriter.open(rows);
  });

  afterEach(() => rows.close());

  it('moves no counter, and nothing is written until the db is opened again', async () => {
    await writer.write(insert('1'), false);
    const before = writer.counters();
    isFull = true;
    const failed = writer.write(insert('2'), true);
    const queued = writer.write(insert('3'), false);
    await expect(failed).rejects.toEqual(diskFull);
    isFull = false;
    await expect(queued).rejects.toEqual(diskFull);
    await expect(writer.write(insert('4'), false)).rejects.toThrow('not written');
    expect(writer.counters()).toEqual(before);
    expect((await writer.hostRows(['a.example']))[0]?.tally).toContain(1);

    const reopened = await BatchWriter.open(rows);
    expect(reopened.counters()).toEqual(before);
    await reopened.write(insert('4'), false);
    expect(reopened.counters().urls).toBe(2);
  });

  it('for a mistake of the caller does not stop the next one', async () => {
    const wrong = { puts: [{ datum: visitedDatum('not a url'), previous: null }] };
    await expect(writer.write(wrong, false)).rejects.toThrow(TypeError);
    await writer.write(insert('1'), false);
    expect(writer.counters().urls).toBe(1);
  });
});

describe('crawlDbError', () => {
  const level = (code: string, message: string): Error => Object.assign(new Error(message), { code });

  it.each<[unknown, string]>([
    [level('LEVEL_IO_ERROR', 'IO error: x.log: No space left on device'), 'disk-full'],
    [new Error('batch failed', { cause: level('LEVEL_IO_ERROR', 'IO error: Disk quota exceeded') }), 'disk-full'],
    [Object.assign(new Error('write'), { code: 'ENOSPC', message: 'ENOSPC: no space left on device' }), 'disk-full'],
    [level('LEVEL_CORRUPTION', 'Corruption: bad block'), 'db-corrupt'],
    [new Error('Database failed to open', { cause: level('LEVEL_CORRUPTION', 'missing files') }), 'db-corrupt'],
    [level('LEVEL_DATABASE_NOT_OPEN', 'Database is not open'), 'internal'],
    [level('LEVEL_IO_ERROR', 'IO error: db/LOCK: Permission denied'), 'db-readonly'],
    [level('LEVEL_IO_ERROR', 'IO error: db/LOCK: Read-only file system'), 'db-readonly'],
    [level('LEVEL_IO_ERROR', 'IO error: something else'), 'internal'],
  ])('of %s is %s', (error, code) => {
    expect(crawlDbError(error)).toMatchObject({ code, cause: error });
  });

  it('leaves a TypeError and a CrawlError as they are', () => {
    const mistake = new TypeError('a URL was expected');
    expect(crawlDbError(mistake)).toBe(mistake);
    const known = crawlDbError(new Error('x'));
    expect(crawlDbError(known)).toBe(known);
  });
});
