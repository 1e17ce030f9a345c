import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CrawlDatum, NO_VALIDATORS, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { encodeParsed } from '../../src/core/plugin-host/parsing/encode-parsed.ts';
import { createFileSegmentStore } from '../../src/store/files/segments/segment-store.ts';
import { openLevelCrawlDb } from '../../src/store/leveldb/open-rows.ts';
import { measurement } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';
import { nodeCost } from '../harness/processes.ts';
import { seeded } from '../harness/seeded.ts';

const SEGMENTS = 3;
const AT = Date.UTC(2026, 0, 1);
const CHILD = fileURLToPath(new URL('./export-child.js', import.meta.url));
const FORMATS = ['jsonl', 'csv', 'parquet', 'warc', 'tree/', 'markdown'] as const;

/** A third of the pages are on a host of their own. */
const urlOf = (n: number): string =>
  n % 3 === 0 ? `https://small.example/page-${n}.html` : `https://large.example/section/${n % 97}/page-${n}.html`;

function articleOf(random: () => number): { readonly html: string; readonly text: string } {
  const words = Array.from({ length: 700 }, () => `word${Math.floor(random() * 5_000)}`);
  const paragraphs = Array.from({ length: 14 }, (_, i) => words.slice(50 * i, 50 * (i + 1)).join(' '));
  const menu = Array.from({ length: 60 }, (_, i) => `<li><a href="/section/${i}/">Section ${i}</a></li>`).join('\n');
  const html = `<!doctype html><html lang="en"><head><title>A page</title></head><body><nav><ul>${menu}</ul></nav>
<article><h1>Head</h1>${paragraphs.map((text) => `<p>${text} <a href="/x">more</a></p>`).join('\n')}</article></body></html>`;
  return { html, text: paragraphs.join('\n') };
}

async function build(dir: string, pages: number): Promise<void> {
  const random = seeded(5);
  const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
  const segments = createFileSegmentStore({
    dir: join(dir, 'segments'),
    warc: { software: 'bench', operator: '', maxFileBytes: 1e9, gzipLevel: 6 },
  });
  const perSegment = Math.floor(pages / SEGMENTS);
  for (let s = 0; s < SEGMENTS; s++) {
    const numbers = Array.from({ length: perSegment }, (_, i) => s * perSegment + i);
    const items = numbers.map((n, index) => ({
      index,
      url: urlOf(n),
      host: new URL(urlOf(n)).host,
      partition: 0,
      depth: 1,
      score: 1,
      validators: NO_VALIDATORS,
      digest: null,
      audit: false,
      metadata: {},
    }));
    const id = `2026010${s + 1}000000`;
    await segments.create({ id, createdAt: AT + s, hosts: {} }, items);
    const segment = await segments.open(id, 'write');
    const data: CrawlDatum[] = [];
    for (const [index, n] of numbers.entries()) {
      const { html, text } = articleOf(random);
      const body = Buffer.from(html);
      const digest = createHash('sha256').update(body).digest('hex').slice(0, 32);
      const { url, host } = items[index] as (typeof items)[number];
      const sizes = { requests: 1, bodyBytes: body.length, receivedBytes: body.length, ms: 1 };
      const contentType = 'text/html';
      const kept = { status: 200, contentType, robotsTag: null, validators: NO_VALIDATORS, digest };
      await segment.addFetched(
        {
          index,
          url,
          host,
          observation: null,
          outcome: { kind: 'success', at: AT, ...sizes, ...kept, truncated: false, audit: null },
        },
        {
          url,
          at: AT,
          httpVersion: '1.1',
          status: 200,
          statusText: 'OK',
          rawHeaders: ['Content-Type', contentType],
          body,
          truncated: false,
          remoteAddress: null,
          revisit: null,
        },
      );
      const signature = n.toString(16).padStart(16, '0');
      const outcome = {
        kind: 'parsed',
        signature,
        signatureName: 'x',
        title: 'A page',
        textChars: text.length,
        stated: null,
        places: [],
        noindex: false,
        metadata: {},
      } as const;
      const record = {
        index,
        url,
        outcome,
        contentType,
        charset: 'utf-8',
        lang: 'en',
        canonical: null,
        text,
        outlinks: [],
      };
      await segment.addParsed(index, encodeParsed(record).encoded);
      data.push({
        ...newDatum({ url, now: AT, intervalMs: 1 }),
        state: 'fetched',
        lastFetchAt: AT,
        changedAt: AT,
        digest,
        signature,
      });
    }
    await segment.setState('updated');
    await segment.close();
    for (let i = 0; i < data.length; i += 1_000) {
      await db.write({ puts: data.slice(i, i + 1_000).map((datum) => ({ datum, previous: null })) });
    }
  }
  await db.close();
}

/** CPU a page of an export by format, and whether its memory grows with the crawl. */
export const exports = measurement('exports', { pages: 30_000 }, ({ say, question }, { pages }) =>
  withFolder(async (dir) => {
    await build(dir, pages);
    const note = question(`Exports of ${pages.toLocaleString('en')} pages of 7 KB`);
    for (const format of FORMATS) {
      const name = format.replace('/', '');
      const place = join(dir, `out-${name}${format.endsWith('/') ? '/' : ''}`);
      const measured = async (host: string) => {
        const { stdout, peakMb } = await nodeCost([CHILD, dir, name, place, host]);
        return { ...(JSON.parse(stdout) as { documents: number; cpuMs: number }), peakMb };
      };
      try {
        const third = await measured('small.example');
        const { documents, cpuMs, peakMb } = await measured('');
        note(`CPU a page, ${name}`, (1_000 * cpuMs) / documents, 'us');
        note(`peak memory, ${name}`, peakMb, 'MB');
        note(`memory that three times the pages take more, ${name}`, peakMb - third.peakMb, 'MB', '<= 40');
      } catch (error) {
        // A format may need an optional package.
        say(
          `${name}: ${
            String(error)
              .split('\n')
              .find((line) => line.includes('Error')) ?? String(error)
          }`,
        );
      }
    }
  }),
);
