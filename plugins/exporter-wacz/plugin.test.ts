import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { testPlugin } from 'incrawl/plugin-testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPromise } from 'yauzl';
import plugin from './plugin.ts';
import { writeZipNum } from './zip-num.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'exporter-wacz-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** The files of an archive, with whether they are stored as they are. */
async function unpacked(file: string): Promise<Map<string, { readonly bytes: Buffer; readonly isStored: boolean }>> {
  const found = new Map<string, { bytes: Buffer; isStored: boolean }>();
  const zip = await openPromise(file);
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    found.set(entry.fileName, { bytes: Buffer.concat(chunks), isStored: entry.compressionMethod === 0 });
  }
  return found;
}

const sha256 = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

it('keeps the contract of its kind, and leaves nothing half done', async () => {
  const place = join(dir, 'site.wacz');
  await testPlugin(plugin, { place });
  expect(await readdir(dir)).toEqual(['site.wacz']);
  const files = await unpacked(place);
  const bytesOf = (path: string): Buffer => files.get(path)?.bytes as Buffer;
  const jsonOf = (path: string) => JSON.parse(bytesOf(path).toString());
  const linesOf = (text: Buffer): string[] => text.toString().trimEnd().split('\n');

  // Every part is described, and viewers can read those of the archive and the index in pieces.
  const { resources, ...described } = jsonOf('datapackage.json');
  expect(described).toMatchObject({ profile: 'data-package', wacz_version: '1.1.1' });
  for (const { path, hash, bytes } of resources as { path: string; hash: string; bytes: number }[]) {
    expect([path, hash, bytes]).toEqual([path, sha256(bytesOf(path)), bytesOf(path).length]);
    expect([path, files.get(path)?.isStored]).toEqual([path, !path.startsWith('pages/')]);
  }
  expect(jsonOf('datapackage-digest.json')).toEqual({
    path: 'datapackage.json',
    hash: sha256(bytesOf('datapackage.json')),
  });
  expect([...files.keys()].sort()).toEqual([
    'archive/data.warc.gz',
    'datapackage-digest.json',
    'datapackage.json',
    'indexes/index.cdx.gz',
    'indexes/index.idx',
    'pages/pages.jsonl',
  ]);

  // A line of the index leads to the record of its page, or of what pages need, which is not in their list.
  const index = linesOf(gunzipSync(bytesOf('indexes/index.cdx.gz')));
  const [, ...pages] = linesOf(bytesOf('pages/pages.jsonl')).map(
    (line) => JSON.parse(line) as { url: string; ts: string },
  );
  expect(pages.length).toBeGreaterThan(0);
  const urls = index.map((line) => JSON.parse(line.slice(line.indexOf('{'))).url as string);
  const requisites = urls.filter((url) => !pages.some((page) => page.url === url));
  expect([urls.length - requisites.length, requisites]).toEqual([pages.length, ['http://example.org/style.css?v=3']]);
  for (const line of index) {
    const [, timestamp, fields] = /^\S+ (\d{14}) (.*)$/.exec(line) as unknown as [string, string, string];
    const { url, offset, length, filename } = JSON.parse(fields);
    const page = pages.find((each) => each.url === url);
    if (page !== undefined) expect(page.ts.replace(/\D/g, '').slice(0, 14)).toBe(timestamp);
    const member = bytesOf(`archive/${filename}`).subarray(Number(offset), Number(offset) + Number(length));
    const record = gunzipSync(member).toString('latin1');
    expect(record).toContain('WARC-Type: response\r\n');
    expect(record).toContain(`WARC-Target-URI: ${url}\r\n`);
  }
});

it.each(['/dev/null', tmpdir(), join(tmpdir(), 'new.wacz/')])('replaces no device and no folder: %s', async (place) => {
  await expect(testPlugin(plugin, { place })).rejects.toThrow('a file was expected');
});

describe('an index in blocks', () => {
  it.each([0, 1, 300, 301, 1_000])('has each of %i lines in the block that the list names for it', async (count) => {
    const lines = Array.from(
      { length: count },
      (_, i) => `org,example)/${String(i).padStart(5, '0')} 20260101000000 {"n":${i}}`,
    );
    const at = { index: join(dir, 'index'), blocks: join(dir, 'idx'), name: 'index.cdx.gz' };
    async function* streamed() {
      yield* lines;
    }
    await writeZipNum(streamed(), at);
    const bytes = await readFile(at.index);
    const [meta, ...blocks] = (await readFile(at.blocks, 'utf8')).trimEnd().split('\n');
    expect(meta).toBe('!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}');
    const read = blocks.flatMap((block) => {
      const { offset, length, digest } = JSON.parse(block.slice(block.indexOf('{')));
      const member = bytes.subarray(offset, offset + length);
      expect(digest).toBe(sha256(member));
      const own = gunzipSync(member).toString().trimEnd().split('\n');
      expect(own[0]?.startsWith(block.slice(0, block.indexOf('{')))).toBe(true);
      return own;
    });
    expect(read).toEqual(lines);
  });
});
