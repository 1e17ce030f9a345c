import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { type ExportDocument, type ExportSink, type ExportTarget, filePathOf, type SinkExporter } from 'incrawl/plugin';
import { testHost, testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

type Content = Parameters<ExportSink['document']>[1];

it('keeps the contract of its kind, in one file', () => testPlugin(plugin));

it('takes the place of a file that an earlier release wrote, and of no other', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'exporter-markdown-'));
  try {
    const former = filePathOf('https://example.org/a', 'md');
    await mkdir(join(dir, 'example.org'));
    await writeFile(join(dir, former), 'former');
    await writeFile(join(dir, 'example.org/b.md'), 'of the page /b');
    const { open } = (await plugin.setup(testHost, {})) as SinkExporter;
    const target = { place: dir, isIncremental: true, partial: (file: string) => `${file}.partial` };
    const sink = await open(target as Partial<ExportTarget> as ExportTarget);
    for (const url of ['https://example.org/a', 'https://example.org/b.md']) {
      const content = { markdown: async () => '# New\n' } as Partial<Content> as Content;
      await sink.document({ url, title: 'New' } as ExportDocument, content);
    }
    await sink.close();
    expect((await readdir(join(dir, 'example.org'))).sort()).toEqual(['a.md', 'b.md', 'b.md.md']);
    expect(await readFile(join(dir, 'example.org/b.md'), 'utf8')).toBe('of the page /b');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

it('keeps the contract of its kind, in a folder', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'exporter-markdown-'));
  try {
    const place = join(dir, 'pages') + sep;
    await testPlugin(plugin, { place });
    const files = (await readdir(place, { recursive: true })).filter((file) => file.endsWith('.md')).sort();
    expect(files).toHaveLength(2);
    expect(await readFile(join(place, 'http_example.org/index.md'), 'utf8')).toBe(
      '---\nurl: "http://example.org/"\ntitle: "A \\"title\\",\\nwith\\ttroubles"\nfetchedAt: "2026-01-01T00:00:00.000Z"\n---\n\n# A title\n\nSome words.\n',
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
