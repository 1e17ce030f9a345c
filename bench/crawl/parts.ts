/** CPU of single parts of a crawl, microseconds: DOM tree, main content, signature, crawl db. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDocument } from 'htmlparser2';
import { MarkupScanner } from '../../plugins/parse-html/markup/markup-scanner.ts';
import { openLevelCrawlDb } from '../../src/adapters/leveldb/crawl-db.ts';
import { newDatum } from '../../src/domain/crawl/states/datum.ts';
import { createMainContent } from '../../src/domain/page/content/main-content.ts';
import { createSimhash } from '../../src/domain/page/near/simhash.ts';
import { Tape } from '../../src/domain/page/tape/tape.ts';
import { factsAfter } from '../../src/steps/facts/host-observations.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function tapeOf(page: string): Tape {
  const tape = new Tape();
  new MarkupScanner().scan(Buffer.from(page), tape, { maxDepth: 512, maxAttributes: 256, maxNodes: 500_000 }, false);
  return tape;
}

/** Mean CPU of a call, us, after a warm-up of as many calls. */
async function cpuUs(calls: number, call: (i: number) => unknown): Promise<number> {
  for (let i = 0; i < calls; i++) await call(i);
  const before = process.cpuUsage();
  for (let i = 0; i < calls; i++) await call(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

const visitTo = (host: string, ms: number) => ({
  host,
  url: `http://${host}/page/1`,
  outcome: { kind: 'gone', status: 404, at: 0, requests: 1, bodyBytes: 9_000, receivedBytes: 9_300, ms } as const,
});

export async function benchParts(say: (text: string) => void, origins: readonly string[]): Promise<void> {
  const pages: string[] = [];
  for (let page = 0; page < 50; page++) {
    const answer = await fetch(`${origins[page % origins.length]}/page/${page}.html`);
    if (answer.ok) pages.push(await answer.text());
  }
  const of = (i: number): string => pages[i % pages.length] as string;
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-parts-'));
  try {
    const tree = await cpuUs(400, (i) => parseDocument(of(i)));
    const tapes = pages.map(tapeOf);
    const mainContent = createMainContent();
    const content = await cpuUs(400, (i) => mainContent(tapes[i % tapes.length] as Tape));
    const texts = tapes.map((tape) => mainContent(tape).text);
    const simhash = createSimhash();
    const text = (i: number): string => texts[i % texts.length] as string;
    const sign = await cpuUs(400, (i) => simhash([{ text: text(i), weight: 1 }]));
    const chars = texts.reduce((sum, each) => sum + each.length, 0) / texts.length;
    say(
      `parts           a page of ${Math.round(of(0).length / 1_000)} KB: htmlparser2's own tree ${tree.toFixed(0)} us, main content ${content.toFixed(0)} us, signature of ${(chars / 1_000).toFixed(1)} KB of text ${sign.toFixed(0)} us`,
    );
    const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
    const batch = 1_000;
    const data = (round: number) =>
      Array.from({ length: batch }, (_, i) =>
        newDatum({ url: `http://h${i % 50}.example/${round}/${i}`, now: 1, intervalMs: 1 }),
      );
    let round = 0;
    const put = await cpuUs(20, () => db.write({ puts: data(round++).map((datum) => ({ datum, previous: null })) }));
    const get = await cpuUs(20, (i) => db.getMany(data(i).map(({ url }) => url)));
    const absent = await cpuUs(20, (i) => db.hasMany(data(i + 1_000).map(({ url }) => url)));
    const visited = async (hosts: number): Promise<string> => {
      const visits = Array.from({ length: 500 }, (_, i) => visitTo(`h${i % hosts}.example`, 1 + ((i * 7_919) % 900)));
      const us = await cpuUs(60, async () =>
        db.write({ hostFacts: await factsAfter(db, [], visits, 0, new Map(), 0) }),
      );
      return (us / visits.length).toFixed(1);
    };
    const traffic = [await visited(1), await visited(50), await visited(500)];
    await db.close();
    const each = (us: number): string => (us / batch).toFixed(1);
    say(
      `parts           crawl db, a record: put of a new one ${each(put)} us, sorted getMany ${each(get)} us, absent keys ${each(absent)} us`,
    );
    say(`parts           host statistics of 500 visits to 1, 50, 500 hosts: ${traffic.join(', ')} us a visit`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
