import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { Level } from 'level';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackupSummary, RepairSummary, VerifySummary } from '../../../src/crawler/index.ts';
import type { MergeSummary, PruneSummary } from '../../../src/crawler/views.ts';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { createGate } from '../support/gate.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

const PAGES = 4;
let site: LocalSite;
let cwd = '';
beforeAll(async () => {
  site = await startSite({ pages: PAGES });
  cwd = workDir();
  const { code, stderr } = await run(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--quiet'], {
    cwd,
  });
  expect(stderr).toBe('');
  expect(code).toBe(0);
});
afterAll(() => site.close());

/** A copy of the crawl, to be damaged. */
function copy(): string {
  const dir = join(workDir(), 'state');
  cpSync(join(cwd, 'crawldb'), dir, { recursive: true });
  return dir;
}

const dump = (dir: string) => json<RecordView[]>(['readdb', '--dump', '--dir', dir]);
const newestSegment = (dir: string): string => join(dir, 'segments', readdirSync(join(dir, 'segments')).sort()[0]!);

describe('verify and repair', () => {
  it('a sound crawl is sound, to people and to programs', async () => {
    const summary = await json<VerifySummary>(['state', 'verify', '--deep'], { cwd });
    expect(summary).toMatchObject({ sound: true, findings: [], byKind: {} });
    expect(summary.rows?.records).toBeGreaterThan(PAGES);
    const { stdout, code } = await run(['state', 'verify'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Sound: \d+ records/);
  });

  it('damage to the db and to a segment is found, listed with its repair, and repaired', async () => {
    const dir = copy();
    const rows = new Level<string, Buffer>(join(dir, 'db'), { valueEncoding: 'buffer' });
    const due = await rows.keys({ gte: 'd', lt: 'e' }).all();
    await rows.batch(due.map((key) => ({ type: 'del', key })));
    await rows.close();
    const parsed = join(newestSegment(dir), 'parsed.bin');
    const bytes = readFileSync(parsed);
    bytes[bytes.length - 3]! ^= 0xff;
    writeFileSync(parsed, bytes);

    const found = await json<VerifySummary>(['state', 'verify', '--dir', dir], { code: 1 });
    expect(found).toMatchObject({ sound: false, byKind: { 'due-missing': due.length, 'segment-damaged': 1 } });
    expect(await run(['export', '--dir', dir])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /parsed\.bin is damaged at byte \d+: .*\n"incrawl state verify" .*"incrawl state repair"/,
      ),
    });
    const dry = await run(['state', 'repair', '--dry-run', '--dir', dir]);
    expect(dry.code).toBe(0);
    expect(dry.stdout).toContain('"incrawl state repair" rebuilds the index.');
    expect(await json(['state', 'verify', '--dir', dir], { code: 1 })).toEqual(found);

    const repaired = await json<RepairSummary>(['state', 'repair', '--dir', dir]);
    expect(repaired).toMatchObject({ found: found.byKind, left: { sound: true }, segments: [{ pagesLost: 0 }] });
    expect(existsSync(join(repaired.quarantine, 'segments'))).toBe(true);
    expect(await dump(dir)).toEqual(await dump(join(cwd, 'crawldb')));
    expect((await json<unknown[]>(['readdb', '--due', '--dir', dir])).length).toBe(
      (await json<unknown[]>(['readdb', '--due'], { cwd })).length,
    );
  });

  it('one flipped byte of a WARC file is repaired at once, and its page is fetched again', async () => {
    const dir = copy();
    const folder = newestSegment(dir);
    const [name] = readdirSync(folder).filter((file) => file.endsWith('.warc.gz'));
    const bytes = readFileSync(join(folder, name!));
    // Behind the first record, in the middle of the file.
    bytes[Math.floor(bytes.length / 2)]! ^= 0xff;
    writeFileSync(join(folder, name!), bytes);
    const before = await dump(dir);
    const first = await json<RepairSummary>(['state', 'repair', '--deep', '--dir', dir]);
    expect(first).toMatchObject({ found: { 'warc-damaged': 1 }, pagesDue: 1, left: { sound: true } });
    expect(first.segments).toMatchObject([{ pagesLost: 1 }]);
    const second = await json<RepairSummary>(['state', 'repair', '--deep', '--dir', dir]);
    expect(second).toMatchObject({ found: {}, segments: [], pagesDue: 0, left: { sound: true } });
    const [lost] = (await dump(dir)).filter(({ truncated }) => truncated === 'lost');
    const pages = site.log.length;
    const crawled = await run(['crawl', '--dir', dir, '--allow', '127.0.0.1', '--delay', '0', '--quiet']);
    expect(crawled).toMatchObject({ code: 0 });
    expect(site.log.slice(pages)).toEqual([new URL(lost!.url).pathname]);
    const after = (await dump(dir)).find(({ url }) => url === lost!.url);
    expect(after).toMatchObject({ truncated: null, digest: lost!.digest, state: 'notmodified' });
    expect(after?.changedAt).toBe(before.find(({ url }) => url === lost!.url)?.changedAt);
    const pagesOf = async (state: string) => (await run(['export', '--format', 'jsonl', '--dir', state])).stdout;
    expect((await pagesOf(dir)).split('\n')).toHaveLength((await pagesOf(join(cwd, 'crawldb'))).split('\n').length);
  });

  it.each(['missing', 'empty'])('a crawl db that is %s beside segments is told as lost', async (how) => {
    const dir = copy();
    rmSync(join(dir, 'db'), { recursive: true });
    const rows = new Level(join(dir, 'db'), { createIfMissing: how === 'empty' });
    if (how === 'empty') await rows.open();
    await rows.close();
    const summary = await json<VerifySummary>(['state', 'verify', '--dir', dir], { code: 1 });
    expect(summary).toMatchObject({ sound: false, byKind: { 'db-missing': 1 } });
    const { stdout, code } = await run(['state', 'repair', '--dir', dir]);
    expect(code).toBe(1);
    expect(stdout).toContain('restore a backup');
  });

  it('a finished segment without its mark is reported, keeps its pages, and goes to the quarantine', async () => {
    const dir = copy();
    const folder = newestSegment(dir);
    rmSync(join(folder, 'segment.json'));
    const files = readdirSync(folder);
    expect(await json<VerifySummary>(['state', 'verify', '--dir', dir], { code: 1 })).toMatchObject({
      byKind: { 'segment-unreadable': 1 },
    });
    const crawled = await run(['crawl', '--dir', dir, '--allow', '127.0.0.1']);
    expect(crawled).toMatchObject({ code: 0, stderr: expect.stringContaining('incrawl state repair') });
    expect(readdirSync(folder)).toEqual(files);
    const repaired = await json<RepairSummary>(['state', 'repair', '--dir', dir]);
    expect(repaired).toMatchObject({ found: { 'segment-unreadable': 1 }, left: { sound: true } });
    expect(readdirSync(join(repaired.quarantine, 'segments', basename(folder)))).toEqual(files);
    expect(existsSync(folder)).toBe(false);
  });

  it('the error for a crawl db that cannot be opened names verify and repair', async () => {
    const dir = copy();
    for (const name of readdirSync(join(dir, 'db'))) if (name.startsWith('MANIFEST-')) rmSync(join(dir, 'db', name));
    const refused = await run(['readdb', '--stats', '--dir', dir]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is damaged: .*\n"incrawl state verify" .*"incrawl state repair"/),
    });
    expect(await json<RepairSummary>(['state', 'repair', '--dir', dir])).toMatchObject({ left: { sound: true } });
    expect(await dump(dir)).toEqual(await dump(join(cwd, 'crawldb')));
  });

  it('commands on a copy of the crawl db name the crawl db itself in errors', async () => {
    const dir = copy();
    const rows = new Level<string, Buffer>(join(dir, 'db'), { valueEncoding: 'buffer' });
    await rows.put('mformatVersion', Buffer.from('99'));
    await rows.close();
    const commands = [
      ['state', 'verify', '--dir', dir],
      ['state', 'repair', '--dry-run', '--dir', dir],
      ['state', 'backup', join(workDir(), 'backup'), '--dir', dir],
      ['db', 'export', '--dir', dir],
      ['db', 'merge', dir, '--dir', join(workDir(), 'merged')],
    ];
    for (const args of commands) {
      const { code, stderr } = await run(args);
      expect(stderr).toContain(`the crawl db ${join(dir, 'db')} has format 99`);
      expect(code).toBe(1);
    }
  });

  it('a missing state directory, and one that is held, are reported', async () => {
    const missing = await run(['state', 'verify', '--dir', join(workDir(), 'nowhere')]);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere holds no crawl') });
    const gate = createGate();
    const slow = await startSite({ pages: PAGES, gate });
    gate.closeAfter(0);
    const dir = join(workDir(), 'held');
    const crawl = start(['crawl', `${slow.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--dir', dir]);
    await slow.seen(1);
    expect((await run(['state', 'repair', '--dir', dir])).code).toBe(5);
    expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', dir])).toMatchObject({ sound: true });
    crawl.stop();
    gate.open();
    expect((await crawl.finished).code).toBe(11);
    await slow.close();
    expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', dir])).toMatchObject({ sound: true });
  });
});

describe('backup and restore', () => {
  it('a backup gives the same crawl again', async () => {
    const folder = join(workDir(), 'backup');
    const made = await json<BackupSummary>(['state', 'backup', folder], { cwd });
    expect(made.files).toBeGreaterThan(3);
    expect(await json<BackupSummary>(['state', 'backup', '--check', folder])).toMatchObject({ rows: made.rows });
    const dir = join(workDir(), 'restored');
    expect(await json<BackupSummary>(['state', 'restore', folder, '--dir', dir])).toMatchObject({
      rows: made.rows,
      files: made.files,
    });
    expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', dir])).toMatchObject({ sound: true });
    expect(await dump(dir)).toEqual(await dump(join(cwd, 'crawldb')));
    const exported = await run(['export', '--format', 'jsonl'], { cwd });
    expect(await run(['export', '--format', 'jsonl', '--dir', dir])).toEqual(exported);
    // Neither goes over something that is there.
    expect((await run(['state', 'backup', folder], { cwd })).code).toBe(2);
    expect((await run(['state', 'restore', folder, '--dir', dir])).code).toBe(2);
  });

  it('a killed backup starts again, in the same folder only', async () => {
    const folder = join(workDir(), 'backup');
    const cut = ['.backing-up/db/000003.log', '.backing-up/robots/left', 'segments/left/data'];
    for (const path of cut) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), 'part');
    }
    writeFileSync(join(folder, 'mine.txt'), 'kept');
    expect((await run(['state', 'backup', folder], { cwd })).code).toBe(2);
    expect(cut.every((path) => existsSync(join(folder, path)))).toBe(true);
    rmSync(join(folder, 'mine.txt'));
    const made = await json<BackupSummary>(['state', 'backup', folder], { cwd });
    expect(await json<BackupSummary>(['state', 'backup', '--check', folder])).toMatchObject({ rows: made.rows });
    expect(readdirSync(folder)).not.toContain('.backing-up');
    expect(existsSync(join(folder, 'segments/left'))).toBe(false);
    expect(existsSync(join(folder, 'robots/left'))).toBe(false);
  });

  it('a backup or a restore does not touch the unfinished one of another process', async () => {
    const folder = join(workDir(), 'backup');
    const into = join(workDir(), 'restored');
    await json(['state', 'backup', folder], { cwd });
    for (const [args, staging] of [
      [['state', 'backup', into], join(into, '.backing-up')],
      [['state', 'restore', folder, '--dir', into], `${into}.restoring`],
    ] as const) {
      mkdirSync(staging, { recursive: true });
      writeFileSync(join(staging, 'begun'), 'part');
      // One that is there for as long as this one.
      const other = { pid: process.ppid, host: hostname(), startedAt: 1 };
      writeFileSync(join(staging, 'writer.lock'), JSON.stringify(other));
      const refused = await run(args, { cwd });
      expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining(`process ${process.ppid}`)]);
      expect(readdirSync(staging).sort()).toEqual(['begun', 'writer.lock']);
      rmSync(join(staging, 'writer.lock'));
      expect((await run(args, { cwd })).code).toBe(0);
      expect(existsSync(staging)).toBe(false);
      rmSync(into, { recursive: true });
    }
  });

  it('a restore keeps the folder that it is given: a link, or a mount point', async () => {
    const folder = join(workDir(), 'backup');
    await json(['state', 'backup', folder], { cwd });
    const disk = workDir();
    const dir = join(workDir(), 'linked');
    symlinkSync(disk, dir);
    const { ino } = statSync(disk);
    // What a kill may have left.
    mkdirSync(join(disk, '.restoring', 'db'), { recursive: true });
    mkdirSync(join(disk, 'segments', 'half'), { recursive: true });
    await json(['state', 'restore', folder, '--dir', dir]);
    expect(lstatSync(dir).isSymbolicLink()).toBe(true);
    expect(statSync(disk).ino).toBe(ino);
    expect(readdirSync(disk).sort()).toEqual(readdirSync(join(cwd, 'crawldb')).sort());
    expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', dir])).toMatchObject({ sound: true });
    expect(await dump(dir)).toEqual(await dump(join(cwd, 'crawldb')));
    mkdirSync(join(disk, '.restoring'));
    expect(await run(['state', 'restore', folder, '--dir', dir])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not empty'),
    });
  });

  it('a backup of a format that is not known is refused, and nothing is restored', async () => {
    const folder = join(workDir(), 'backup');
    await json(['state', 'backup', folder], { cwd });
    const manifest = join(folder, 'backup.json');
    const known = JSON.parse(readFileSync(manifest, 'utf8'));
    const dir = join(workDir(), 'restored');
    for (const [part, text] of [
      [
        { dbFormat: 15 },
        'the crawl db in the backup has format 15; this incrawl reads up to 1, and has changed nothing',
      ],
      [{ version: 2 }, 'the backup has version 2; this incrawl reads up to 1, and has changed nothing'],
    ] as const) {
      writeFileSync(manifest, JSON.stringify({ ...known, ...part }));
      for (const args of [
        ['state', 'restore', folder, '--dir', dir],
        ['state', 'backup', '--check', folder],
      ]) {
        expect(await run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining(text) });
      }
    }
    expect(existsSync(dir)).toBe(false);
  });

  it('a backup that was damaged, or cut short, is not restored', async () => {
    const folder = join(workDir(), 'backup');
    await json(['state', 'backup', folder], { cwd });
    const manifest = readFileSync(join(folder, 'backup.json'), 'utf8');
    const file = (JSON.parse(manifest) as { files: { path: string }[] }).files.find(({ path }) =>
      path.endsWith('.gz'),
    )!;
    const bytes = readFileSync(join(folder, file.path));
    bytes[50]! ^= 1;
    writeFileSync(join(folder, file.path), bytes);
    const dir = join(workDir(), 'restored');
    for (const args of [
      ['state', 'restore', folder, '--dir', dir],
      ['state', 'backup', '--check', folder],
    ]) {
      expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(file.path) });
    }
    rmSync(join(folder, 'backup.json'));
    expect(await run(['state', 'restore', folder, '--dir', dir])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no complete backup'),
    });
    expect(existsSync(dir)).toBe(false);
  });
});

describe('beside a crawl that runs', () => {
  it('export, db export, state backup and state verify take the crawl as it is at this moment', async () => {
    const gate = createGate();
    const slow = await startSite({ pages: PAGES, gate });
    gate.closeAfter(3);
    const dir = join(workDir(), 'held');
    const crawl = start(['crawl', `${slow.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--dir', dir]);
    await slow.seen(4);
    const folder = join(workDir(), 'backup');
    const [exported, lines, made, verified] = await Promise.all([
      run(['export', '--dir', dir]),
      run(['db', 'export', '--dir', dir]),
      json<BackupSummary>(['state', 'backup', folder, '--dir', dir]),
      json<VerifySummary>(['state', 'verify', '--deep', '--dir', dir]),
    ]);
    expect([exported.code, lines.code]).toEqual([0, 0]);
    expect(lines.stdout.trim().split('\n').at(-1)).toContain('"end"');
    expect(verified).toMatchObject({ sound: true });
    crawl.stop();
    gate.open();
    expect((await crawl.finished).code).toBe(11);

    const restored = join(workDir(), 'restored');
    expect(await json<BackupSummary>(['state', 'restore', folder, '--dir', restored])).toMatchObject({
      rows: made.rows,
    });
    expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', restored])).toMatchObject({ sound: true });
    // The crawl goes on from the backup to the same end.
    const again = ['crawl', '--allow', '127.0.0.1', '--delay', '0', '--quiet', '--dir'];
    for (const each of [dir, restored]) expect((await run([...again, each])).code).toBe(0);
    const states = async (each: string): Promise<string[]> =>
      (await dump(each)).map(({ url, state }) => `${url} ${state}`).sort();
    expect(await states(restored)).toEqual(await states(dir));
    expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', restored])).toMatchObject({ sound: true });
    await slow.close();
  });
});

describe('moving a crawl', () => {
  it('db export and db import give the same records', async () => {
    const exported = await run(['db', 'export'], { cwd });
    expect(exported.code).toBe(0);
    const dir = join(workDir(), 'imported');
    expect((await run(['db', 'import', '--dir', dir], { input: exported.stdout })).code).toBe(0);
    expect(await dump(dir)).toEqual(await dump(join(cwd, 'crawldb')));
    expect(await json<VerifySummary>(['state', 'verify', '--dir', dir])).toMatchObject({ sound: true });
    expect(await run(['db', 'import', '--dir', dir], { input: exported.stdout })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--merge'),
    });
  });

  it('a crawl is not merged into itself, whatever it is called', async () => {
    const alias = join(workDir(), 'alias');
    symlinkSync(join(cwd, 'crawldb'), alias);
    for (const more of [[], ['--dry-run']]) {
      expect(await run(['db', 'merge', alias, ...more], { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is the state directory to merge into'),
      });
    }
  });

  it('merge adds another crawl with its pages; compacting keeps each page once', async () => {
    const dir = join(workDir(), 'merged');
    const from = join(cwd, 'crawldb');
    const [first] = await json<MergeSummary[]>(['db', 'merge', from, '--dir', dir]);
    expect(first).toMatchObject({ merged: 0 });
    // Another crawl, whose segments happen to be called the same.
    const other = copy();
    for (const id of first!.segments) {
      const mark = join(other, 'segments', id, 'segment.json');
      const info = JSON.parse(readFileSync(mark, 'utf8')) as { createdAt: number };
      writeFileSync(mark, JSON.stringify({ ...info, createdAt: info.createdAt + 1 }));
    }
    const [second] = await json<MergeSummary[]>(['db', 'merge', other, '--dir', dir]);
    expect(second).toMatchObject({ merged: first!.records });
    expect(second!.segments).toEqual(first!.segments.map((id) => `${id}-m1`));
    // What has been merged before is not copied again.
    for (const known of [from, other])
      expect(await json(['db', 'merge', known, '--dir', dir])).toMatchObject([
        { merged: first!.records, segments: [] },
      ]);
    const pages = (text: string): unknown[] =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    const before = pages((await run(['export', '--format', 'jsonl', '--dir', dir])).stdout);

    const dry = await json<PruneSummary>([
      'state',
      'prune',
      '--keep-days',
      '0',
      '--compact',
      '--dry-run',
      '--dir',
      dir,
    ]);
    expect(dry).toMatchObject({ dryRun: true, compactedInto: [] });
    const young = await json<PruneSummary>(['state', 'prune', '--keep-days', '1', '--compact', '--dir', dir]);
    expect(young).toMatchObject({ removed: 0 });
    const needed = await json<PruneSummary>(['state', 'prune', '--keep-days', '0', '--dir', dir]);
    expect(
      needed.segments.filter(({ pagesNeeded }) => pagesNeeded > 0).every(({ verdict }) => verdict === 'needed'),
    ).toBe(true);
    const pruned = await json<PruneSummary>(['state', 'prune', '--keep-days', '0', '--compact', '--dir', dir]);
    expect(pruned.compactedInto).toHaveLength(1);
    expect(readdirSync(join(dir, 'segments'))).toEqual(pruned.compactedInto);
    const after = pages((await run(['export', '--format', 'jsonl', '--dir', dir])).stdout);
    const byUrl = (list: unknown[]): unknown[] => (list as { url: string }[]).sort((a, b) => (a.url < b.url ? -1 : 1));
    expect(byUrl(after)).toEqual(byUrl(before));
    expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', dir])).toMatchObject({
      sound: true,
      segments: 1,
    });
    // And again: there is nothing left to do.
    const again = await json<PruneSummary>(['state', 'prune', '--keep-days', '0', '--compact', '--dir', dir]);
    expect(again).toMatchObject({ removed: 0, compactedInto: [] });
  });
});
