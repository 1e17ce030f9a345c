import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { linkClusters } from '../../src/published/map-reduce/link-clusters.ts';
import { localJob } from '../../src/published/map-reduce/local-job.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});
const newDir = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'incrawl-job-'));
  folders.push(folder);
  return folder;
};

async function* stream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
const listOf = async (lines: AsyncIterable<string>): Promise<string[]> => {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
};

/** Links of twelve domains, in disorder; each sixth is noise. */
const LINKS = Array.from({ length: 3_000 }, (_, i) => {
  const n = (i * 1_007) % 3_000;
  const url = `https://www.site${n % 12}.org/${n % 5 === 0 ? 'imprint' : 'news'}/${n % 7}/item-${n}.html`;
  return n % 6 === 0 ? `${url}\t1` : url;
});

describe('a map/reduce job on this machine', () => {
  it.each([
    ['on one thread', { threads: 1 }],
    ['on three threads', { threads: 3, threadsFrom: 0 }],
  ])('%s: the lines of one sorted run', async (_, options) => {
    const mapped = (await listOf(linkClusters.map(stream(LINKS)))).sort();
    const dir = await newDir();
    const lines = await listOf(localJob('linkclusters', stream(LINKS), { dir, ...options }));
    expect(lines).toEqual(await listOf(linkClusters.reduce(stream(mapped))));
    expect(lines.length).toBeGreaterThan(20);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('without input there is no output', async () => {
    expect(await listOf(localJob('linkclusters', stream([]), { dir: await newDir() }))).toEqual([]);
  });

  it('an error of the source rejects the job and leaves no files', async () => {
    const dir = await newDir();
    async function* broken(): AsyncGenerator<string> {
      yield 'https://a.org/';
      throw new Error('the disk is gone');
    }
    await expect(listOf(localJob('linkclusters', broken(), { dir }))).rejects.toThrow('the disk is gone');
    expect(existsSync(dir) && readdirSync(dir)).toEqual([]);
  });

  it('a reader that stops early leaves no files', async () => {
    const dir = await newDir();
    for await (const line of localJob('linkclusters', stream(LINKS), { dir })) {
      expect(line).toContain('\t');
      break;
    }
    expect(readdirSync(dir)).toEqual([]);
  });

  /** A worker that dies as often as the marker files it can make, then works. */
  const dyingWorker = async (deaths: number): Promise<string> => {
    const folder = await newDir();
    const file = join(folder, 'worker.mjs');
    const real = new URL('../../dist/src/published/map-reduce/reduce-worker.js', import.meta.url);
    await writeFile(
      file,
      `import { openSync } from 'node:fs';
import reduce from ${JSON.stringify(real.href)};
export default async (task) => {
  for (let death = 0; death < ${deaths}; death++) {
    try { openSync(new URL('death-' + task.part.split('/').at(-1) + death, import.meta.url), 'wx'); } catch { continue; }
    process.exit(7);
  }
  return reduce(task);
};`,
    );
    return file;
  };

  it('a part whose thread dies is done again on a fresh one', async () => {
    const mapped = (await listOf(linkClusters.map(stream(LINKS)))).sort();
    const options = { dir: await newDir(), threads: 2, threadsFrom: 0, worker: await dyingWorker(2) };
    const lines = await listOf(localJob('linkclusters', stream(LINKS), options));
    expect(lines).toEqual(await listOf(linkClusters.reduce(stream(mapped))));
  });

  it('a part that kills every thread ends the job, and leaves no file behind', async () => {
    const dir = await newDir();
    const options = { dir, threads: 2, threadsFrom: 0, worker: await dyingWorker(3) };
    await expect(listOf(localJob('linkclusters', stream(LINKS), options))).rejects.toThrow('worker exited with code');
    expect(readdirSync(dir)).toEqual([]);
  });
});
