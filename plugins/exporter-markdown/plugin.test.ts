import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

it('keeps the contract of its kind, in one file', () => testPlugin(plugin));

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
