import { join } from 'node:path';
import type { PageChange } from '../../../src/core/domain/crawl/change/page-change.ts';
import { openLevelCrawlDb } from '../../../src/store/leveldb/open-rows.ts';
import { changeOf } from '../../contracts/crawl-db-exam.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** When the first entry was noted. */
export const NOTED = Date.UTC(2026, 2, 1, 8);
/** What XML has no spelling for, markup, the end of a CDATA section, half a pair, a turned reading direction. */
const HOSTILE = ']]></title><script>alert(1)</script> &amp; "q" \u0000\u000b\ufffe\ud800 \u202egnp.exe';

/** Notes a change of each kind, titles and URLs that are hard to write down among them. */
export async function noteHostileChanges(cwd: string): Promise<void> {
  const db = await openLevelCrawlDb({ dir: join(cwd, 'crawldb', 'db'), log });
  const at = NOTED - 60_000;
  const add = (i: number, changes: readonly PageChange[]) =>
    db.write({ feed: { add: { notedAt: NOTED + i, changes } } });
  await add(0, [changeOf('https://a.example/?x=1&y=%3C', { at, kind: 'new', distance: null, title: HOSTILE })]);
  await add(1_000, [
    changeOf('https://a.example/news', { at, distance: 12, blocks: ['body>main>p'] }),
    changeOf('https://b.example/old', { at, kind: 'moved', distance: null, target: 'https://b.example/"new"' }),
    changeOf('https://b.example/gone', { at, kind: 'gone', status: 410, distance: null, title: null }),
    changeOf('https://b.example/copy', { at, kind: 'duplicate', distance: null, target: 'https://a.example/' }),
    changeOf('https://a.example/back', { at, kind: 'back', distance: 3, title: '  ' }),
    changeOf('https://a.example/dropped', { at, kind: 'dropped', distance: null }),
  ]);
  await db.close();
}
