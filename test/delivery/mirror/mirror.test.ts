import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesByUrl, relativeAddress } from '../../../src/delivery/mirror/local-addresses.ts';
import { redirectPage, startPage } from '../../../src/delivery/mirror/made-pages.ts';
import {
  type MirrorFile,
  newManifest,
  openManifest,
  readLinks,
  writeManifest,
} from '../../../src/delivery/mirror/manifest.ts';
import { MirrorFolder } from '../../../src/delivery/mirror/mirror-folder.ts';
import { workDir } from '../../support/work-dir.ts';

describe('files of a mirror by URL', () => {
  const entry = (url: string, file: string, target: string | null = null) => ({ url, file, target });

  it('lead through redirects to the file of the last target', () => {
    const files = filesByUrl([entry('a', 'a.html'), entry('b', 'b.html', 'c'), entry('c', 'c.html', 'a')]);
    expect([...files]).toEqual([
      ['a', 'a.html'],
      ['b', 'a.html'],
      ['c', 'a.html'],
    ]);
  });

  it('stay with the redirect where the target is not there, or redirects go in a circle', () => {
    const files = filesByUrl([entry('x', 'x.html', 'elsewhere'), entry('y', 'y.html', 'z'), entry('z', 'z.html', 'y')]);
    expect([...files.values()]).toEqual(['x.html', 'y.html', 'z.html']);
  });
});

it.each([
  ['h/index.html', 'h/docs/guide.html', 'docs/guide.html'],
  ['h/docs/guide.html', 'h/index.html', '../index.html'],
  ['h/a.html', 'h/a.html', 'a.html'],
  ['h/a.html', 'other/b~1.png', '../other/b~1.png'],
  ['h/a.html', 'h/50%.html', '50%25.html'],
  ['h/a.html', 'h/x@id=1#.html', 'x@id=1%23.html'],
])('the address from %s to %s is %s', (from, to, address) => {
  expect(relativeAddress(from, to)).toBe(address);
  expect(decodeURIComponent(new URL(address, `http://x/${from}`).pathname.slice(1))).toBe(to);
});

describe('the manifest of a mirror', () => {
  const file: MirrorFile = {
    ...{ url: 'https://a.example/', file: 'a.example/index.html', kind: 'page' as const, contentType: 'text/html' },
    ...{ fetchedAt: null, digest: 'd', sha256: 's' },
  };

  it('comes back as it was written, with the addresses of each file', () => {
    const folder = join(workDir(), 'new', 'copy');
    openManifest(folder, 'crawl');
    const manifest = newManifest('crawl', 1_000, 2_000, [file]);
    const links = new Map([[file.file, Uint32Array.of(1, 0xffffffff)]]);
    writeManifest(folder, manifest, links);
    expect(openManifest(folder, 'crawl')).toEqual(manifest);
    expect(readLinks(folder)).toEqual(links);
    expect(readFileSync(join(folder, 'manifest.json'), 'utf8').split('\n')).toContain(`    ${JSON.stringify(file)}`);
  });

  it('refuses folders that are no mirror of this crawl, and files outside of it', () => {
    const folder = workDir();
    writeFileSync(join(folder, 'mine.txt'), '');
    expect(() => openManifest(folder, 'crawl')).toThrow('expected a mirror, or an empty or new folder');
    const other = join(workDir(), 'other');
    openManifest(other, 'another');
    expect(() => openManifest(other, 'crawl')).toThrow('the mirror of another crawl');
    for (const text of ['', '{}', JSON.stringify(newManifest('crawl', 0, 0, [{ ...file, file: '../x' }]))]) {
      writeFileSync(join(other, 'manifest.json'), text);
      expect(() => openManifest(other, 'crawl')).toThrow('is not the manifest of a mirror');
    }
    writeFileSync(join(other, '.incrawl-links.json'), 'torn');
    expect(readLinks(other)).toEqual(new Map());
  });
});

describe('the folder of a mirror', () => {
  it('writes what differs, removes folders that are left empty, and what a killed run left', async () => {
    const root = join(workDir(), 'copy');
    mkdirSync(join(root, '.incrawl-partial'), { recursive: true });
    writeFileSync(join(root, '.incrawl-partial', '7'), 'half');
    const folder = await MirrorFolder.open(root);
    const text = Buffer.from('text');
    expect(await folder.put('a/b/c.html', text)).toMatchObject({ isWritten: true });
    expect(await folder.put('a/b/c.html', text)).toMatchObject({ isWritten: false });
    expect(await folder.put('a/b/c.html', Buffer.from('TEXT'))).toMatchObject({ isWritten: true });
    await folder.put('a/d.html', text);
    await folder.remove('a/b/c.html');
    await folder.close();
    expect(await readdir(root, { recursive: true })).toEqual(['a', join('a', 'd.html')]);
    await expect(folder.put('../x', text)).rejects.toThrow('is outside of');
  });
});

it('made pages escape what they are given', () => {
  expect(String(redirectPage('a"<b>.html'))).toContain('content="0; url=a&quot;&lt;b>.html"');
  const list = String(
    startPage([
      { url: 'https://a.example/?x=<y>', file: 'a/1.html' },
      { url: 'b', file: 'b.html' },
    ]),
  );
  expect(list).toContain('<a href="a/1.html">https://a.example/?x=&lt;y></a>');
  expect(String(startPage([{ url: 'b', file: 'b.html' }]))).toContain('url=b.html');
});
