import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { ownFolder, ownPartial } from '../../../src/store/files/locks/folder-lock.ts';

/** Of a process that has ended: beyond the largest number that Linux gives. */
const GONE_PID = 2 ** 30;

it('folders of killed processes of this machine are removed with the next folder of that kind, and nothing else', () => {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-'));
  const mine = ownFolder(dir, 'incrawl-snapshot');
  const left = basename(mine).replace(`-${process.pid}-`, `-${GONE_PID}-`);
  expect(left).not.toBe(basename(mine));
  const machine = hostname().replace(/[^\w.]/g, '_');
  const others = [
    left.replace('snapshot', 'dry-run'),
    left.replace(machine, `${machine}x`),
    'incrawl-snapshot-kept',
    'something',
  ];
  for (const name of [left, ...others]) {
    mkdirSync(join(dir, name, 'db'), { recursive: true });
    writeFileSync(join(dir, name, 'db', '000005.ldb'), 'rows');
  }
  const next = ownFolder(dir, 'incrawl-snapshot');
  expect(readdirSync(dir).sort()).toEqual([...others, basename(mine), basename(next)].sort());
});

it('a partial file has a name of its process, and is removed with the next one when that process was killed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-'));
  const mine = basename(ownPartial(join(dir, 'a.jsonl')));
  expect(mine).toMatch(/^a\.jsonl\..+\.partial$/);
  const left = mine.replace(`-${process.pid}.`, `-${GONE_PID}.`);
  const others = [
    mine,
    left.replace('partial', 'part'),
    `${left}.gz`,
    left.slice('a.jsonl'.length),
    'a.jsonl',
    'b.partial',
  ];
  for (const name of [left, ...others]) writeFileSync(join(dir, name), 'lines');
  expect(basename(ownPartial(join(dir, 'b.jsonl')))).toBe(mine.replace('a.jsonl', 'b.jsonl'));
  expect(readdirSync(dir).sort()).toEqual([...others].sort());
  expect(basename(ownPartial(join(dir, 'absent', 'c')))).toContain('c.');
});
