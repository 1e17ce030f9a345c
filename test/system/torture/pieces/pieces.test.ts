import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { FAULT_SERIES, partOf, sumsOf } from '../../../../bench/harness/long-runs.ts';
import { FAULT_KINDS } from '../faults/faults.ts';
import { openLedger } from './ledger.ts';
import { addingPiece, unkeptPiece } from './piece.ts';

const AT = { commit: 'abcdef01', date: '2026-11-28', machine: { cores: 2, node: '20.20.2' } };
const folder = mkdtempSync(join(tmpdir(), 'incrawl-pieces-'));
const file = join(folder, 'runs.json');
const lock = `${file}.lock`;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

const addingTo = (part: 'kills' | 'fuzz', milliseconds?: number) => {
  const ledger = openLedger(file);
  return { ledger, piece: addingPiece(ledger, part, { at: () => AT, milliseconds }) };
};

describe('the ledger', () => {
  it('begins empty, and a next process reads what the one before has added', () => {
    const one = openLedger(file);
    one.add('kills', { next: { attempts: 3 }, sums: { kills: 2 } }, AT);
    one.close();
    const two = openLedger(file);
    expect(partOf(two.read(), 'kills').next).toEqual({ attempts: 3 });
    two.close();
    expect(readdirSync(folder)).toEqual(['runs.json']);
  });

  it('adds to what the file says now, so that sums that came in between are kept', () => {
    const ledger = openLedger(file);
    ledger.add('kills', { sums: { kills: 2 } }, AT);
    const later = readFileSync(file, 'utf8').replace('"kills":2', '"kills":50');
    writeFileSync(file, later);
    ledger.add('kills', { sums: { kills: 1 } }, AT);
    expect(sumsOf(partOf(ledger.read(), 'kills'))).toEqual({ kills: 51 });
    ledger.close();
  });

  it('is open in one process at a time', () => {
    const ledger = openLedger(file);
    expect(() => openLedger(file)).toThrow(`process ${process.pid} adds to it`);
    ledger.close();
    openLedger(file).close();
  });

  it.each([
    ['was killed', () => String(spawnSync(process.execPath, ['--version']).pid)],
    ['was cut off as it took the lock', () => ''],
  ])('is taken over from a process that %s', (_, holder) => {
    writeFileSync(lock, holder());
    openLedger(file).close();
    expect(existsSync(lock)).toBe(false);
  });

  it('that is something else is refused, and stays as it is', () => {
    writeFileSync(file, '{"figures":[]}');
    expect(() => openLedger(file)).toThrow('expected sums of long runs, "format": "incrawl long runs 1"');
    expect(readFileSync(file, 'utf8')).toBe('{"figures":[]}');
    expect(existsSync(lock)).toBe(false);
  });
});

describe('a piece', () => {
  it('goes on where the last one ended, with each series by itself', () => {
    const first = addingTo('fuzz');
    expect(first.piece.first('url')).toBe(1);
    first.piece.add({ next: { url: 40 }, sums: { inputs: 39 }, peaks: { url: 3 } });
    first.piece.add({ next: { url: 60 }, sums: { inputs: 20 }, peaks: { url: 2 } });
    first.piece.keep();
    first.ledger.close();
    const second = addingTo('fuzz');
    expect([second.piece.first('url'), second.piece.first('rows')]).toEqual([60, 1]);
    expect(partOf(second.ledger.read(), 'fuzz').work).toMatchObject([{ sums: { inputs: 59 }, peaks: { url: 3 } }]);
    second.ledger.close();
  });

  it('keeps a failure at once, and what came before it', () => {
    const { ledger, piece } = addingTo('kills');
    piece.add({ next: { attempts: 2 }, sums: { kills: 1 } });
    expect(existsSync(file)).toBe(false);
    piece.add({ next: { attempts: 3 }, sums: { kills: 1 }, failures: [{ replay: 'again', reason: 'lost' }] });
    const { failures, next } = partOf(ledger.read(), 'kills');
    expect([failures.map(({ replay }) => replay), next]).toEqual([['again'], { attempts: 3 }]);
    ledger.close();
  });

  it('remembers which series are complete', () => {
    const first = addingTo('kills');
    first.piece.add({ complete: ['open EIO'] });
    first.piece.keep();
    first.ledger.close();
    const { ledger, piece } = addingTo('kills');
    expect([piece.isComplete('open EIO'), piece.isComplete('read EIO')]).toEqual([true, false]);
    ledger.close();
  });

  it('is over when its time is, or when the process is asked to end', () => {
    expect(unkeptPiece(7).isOver()).toBe(false);
    expect(unkeptPiece(7, { milliseconds: 0 }).isOver()).toBe(true);
    const stop = new AbortController();
    const piece = unkeptPiece(7, { stop: stop.signal });
    expect([piece.isOver(), piece.isStopped(), piece.first('any')]).toEqual([false, false, 7]);
    stop.abort();
    expect([piece.isOver(), piece.isStopped()]).toEqual([true, true]);
  });
});

it('faults are complete when each kind of call was tried with each of its errors', () =>
  expect(FAULT_KINDS).toHaveLength(FAULT_SERIES));
