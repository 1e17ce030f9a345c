import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { resultOf } from '../../core/plugin-host/bundled-result.ts';

const folder = process.env.INCRAWL_LABELLED_PAGES ?? '';

it.skipIf(!existsSync(join(folder, 'pages.jsonl.gz')))(
  'labelled pages give the same result from their bytes and from the DOM (skipped without INCRAWL_LABELLED_PAGES)',
  async () => {
    const rows = gunzipSync(readFileSync(join(folder, 'pages.jsonl.gz')))
      .toString()
      .trim()
      .split('\n');
    for (const row of rows.filter((_, i) => i % 10 === 0)) {
      const { file } = JSON.parse(row) as { file: string };
      const body = gunzipSync(readFileSync(join(folder, 'html', `${file}.gz`)));
      expect(await resultOf(body, (page) => void page.dom)).toEqual(await resultOf(body));
    }
  },
);
