import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../src/core/domain/url/canonical/url-key.ts';
import { openLevelRows } from '../../src/store/leveldb/open-rows.ts';
import { RowsFingerprintTables } from '../../src/store/rows/near/fingerprint-tables.ts';
import { cpuUs, sum } from '../harness/cost.ts';
import { measurement, type Note } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';
import { seeded } from '../harness/seeded.ts';

const HOSTS = 1_000;
const CHUNK = 500;

/** Tables of near fingerprints in LevelDB, updated with each record. */
export const nearTables = measurement('duplicates', { pages: 1_000_000 }, async ({ question }, { pages }) => {
  const next = seeded(5);
  const hex = (): string =>
    Math.floor(next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const signatures = Array.from({ length: pages }, () => hex() + hex());
  const size = `${pages.toLocaleString('en')} pages`;
  for (const scope of ['host', 'all'] as const)
    await measureRows(question(`Tables of fingerprints in the crawl db, ${size}, scope ${scope}`), signatures, scope);
});

const measureRows = (note: Note, signatures: readonly string[], scope: 'host' | 'all'): Promise<void> =>
  withFolder(async (dir) => {
    const rows = await openLevelRows({ dir: join(dir, 'db'), log: silent });
    const scopeOf = scope === 'host' ? hostOf : () => '';
    const tables = new RowsFingerprintTables(rows, { scope, minChars: 200, scopeOf });
    const facts = { signatureName: 'simhash64/bench', textChars: 5_000 };
    const pageOf = (i: number): CrawlDatum => ({
      ...newDatum({ url: `https://host${i % HOSTS}.example/articles/${i}.html`, now: 0, intervalMs: 1 }),
      ...facts,
      state: 'fetched',
      signature: signatures[i]!,
    });
    let [puts, putBytes] = [0, 0];
    const written = await cpuUs(async () => {
      for (let from = 0; from < signatures.length; from += CHUNK) {
        const batch = rows.batch();
        const length = Math.min(CHUNK, signatures.length - from);
        const changes = Array.from({ length }, (_, i) => ({ before: null, after: pageOf(from + i) }));
        const sink = {
          put: (key: string, value: Buffer) => {
            puts++;
            putBytes += key.length + value.length;
            batch.put(key, value);
          },
          del: (key: string) => batch.del(key),
        };
        const onWritten = await tables.stage(sink, changes);
        await batch.write();
        onWritten();
      }
    });
    const asked = Array.from({ length: signatures.length / 10 }, (_, i) => {
      const page = (i * 37) % signatures.length;
      const signature = signatures[page]!;
      // One bit away, so that each finds what it was made of.
      const last = (Number.parseInt(signature.slice(15), 16) ^ (1 << (i % 4))).toString(16);
      const url = `https://host${page % HOSTS}.example/new/${i}`;
      return { ...facts, url, signature: signature.slice(0, 15) + last, distance: 3 };
    });
    let found = 0;
    const read = await cpuUs(async () => {
      for (let from = 0; from < asked.length; from += CHUNK) {
        for (const { pages } of await tables.near(asked.slice(from, from + CHUNK))) found += pages.length;
      }
    });
    await rows.close();
    const bytes = sum(readdirSync(join(dir, 'db')).map((name) => statSync(join(dir, 'db', name)).size));
    note('rows put a page', puts / signatures.length, '', '<= 2');
    note('bytes put a page', putBytes / signatures.length, 'B');
    note('a new page', written / signatures.length, 'us');
    note('a look-up', read / asked.length, 'us');
    note('bytes a page', bytes / signatures.length, 'B');
    note('found by look-ups', found, '', `>= ${asked.length}`);
  });
