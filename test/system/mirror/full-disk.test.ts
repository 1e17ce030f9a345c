import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { afterThisTest } from '../../support/ends.ts';
import { workDir } from '../../support/work-dir.ts';
import { run } from '../support/binary.ts';
import { MOUNT, MOUNTS, mount, mountDisk, unmount } from '../support/mounts.ts';
import { type RunningSite, requisiteSite, serveSite } from './requisite-site.ts';

/** A file system of this size. */
function disk(size: string): string {
  const dir = workDir();
  expect(mountDisk(dir, size)).toBe(true);
  afterThisTest(() => unmount(dir));
  return dir;
}

/** Leaves so many bytes free. */
function fill(dir: string, freeBytes: number): void {
  const path = join(dir, 'filler');
  const file = openSync(path, 'w');
  try {
    while (writeSync(file, Buffer.alloc(4_096, 1)) === 4_096);
  } catch {
    // The disk is full.
  } finally {
    closeSync(file);
  }
  truncateSync(path, Math.max(0, statSync(path).size - freeBytes));
}

/** Texts of the pages and requisites. */
function filesIn(folder: string): Map<string, string> {
  const names = (readdirSync(folder, { recursive: true }) as string[]).filter(
    (name) => statSync(join(folder, name)).isFile() && !/(?:^|\/)(?:manifest\.json(?:\.new)?$|\.incrawl-)/.test(name),
  );
  return new Map(names.sort().map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

let site: RunningSite;
let where: string[] = [];
const NETWORK = ['--allow', '127.0.0.0/8', '--delay', '0'];

beforeAll(async () => {
  site = await serveSite(requisiteSite('http://127.0.0.1:9'));
  where = ['--dir', join(workDir(), 'crawl')];
  const crawled = await run(['mirror', `${site.origin}/`, join(workDir(), 'first'), ...NETWORK, ...where]);
  expect([crawled.code, crawled.stderr]).toEqual([0, expect.anything()]);
}, 60_000);
afterAll(() => site.close());

const mirrored = (folder: string) => run(['mirror', folder, '--no-crawl', ...where]);

async function wholeMirror(): Promise<Map<string, string>> {
  const folder = join(workDir(), 'whole');
  expect(await mirrored(folder)).toMatchObject({ code: 0 });
  return filesIn(folder);
}

it.skipIf(!MOUNTS)(
  `a new mirror on a full disk has whole files alone, and is completed later${MOUNT}`,
  async () => {
    const whole = await wholeMirror();
    for (const size of ['4k', '32k', '72k']) {
      const root = disk(size);
      const folder = join(root, 'copy');
      const full = await mirrored(folder);
      expect([size, full.code, full.stderr]).toEqual([size, 3, expect.stringContaining('no space left for')]);
      for (const [file, text] of filesIn(folder)) expect(text, file).toBe(whole.get(file));
      expect(mount('-o', 'remount,size=8m', root)).toBe(true);
      expect(await mirrored(folder)).toMatchObject({ code: 0 });
      expect(filesIn(folder)).toEqual(whole);
    }
  },
  60_000,
);

it.skipIf(!MOUNTS)(
  `a mirror that is refreshed on a full disk is old or new, page by page${MOUNT}`,
  async () => {
    const root = disk('2m');
    const folder = join(root, 'copy');
    expect(await mirrored(folder)).toMatchObject({ code: 0 });
    const before = filesIn(folder);
    for (const [path, { type, body, ...rest }] of site.files)
      if (type.startsWith('text/html') && rest.status === undefined)
        site.files.set(path, { type, body: `${body}<p>${'Many more words than before. '.repeat(300)}` });
    expect(await run(['crawl', '--all', ...NETWORK, ...where])).toMatchObject({ code: 0 });
    const after = await wholeMirror();
    for (const freeBytes of [0, 12_288, 28_672]) {
      rmSync(join(root, 'filler'), { force: true });
      fill(root, freeBytes);
      const full = await mirrored(folder);
      expect([freeBytes, full.code, full.stderr]).toEqual([freeBytes, 3, expect.stringContaining('no space left for')]);
      for (const [file, text] of filesIn(folder)) expect([before.get(file), after.get(file)], file).toContain(text);
    }
    rmSync(join(root, 'filler'));
    expect(await mirrored(folder)).toMatchObject({ code: 0 });
    expect(filesIn(folder)).toEqual(after);
  },
  60_000,
);
