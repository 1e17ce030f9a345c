/** `npm run bench -- --only encodings`: what compressed answers cost a crawl. */
import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type HowToCrawl, withState } from './crawls.ts';
import { measuredCrawl } from './measured-crawl.ts';
import type { Site } from './site-process.ts';

const SAMPLES = 50;
const ROUNDS_OF_SAMPLES = 8;

const DECODERS = { identity: (body: Buffer): Buffer => body, gzip: gunzipSync, br: brotliDecompressSync };
type Coding = keyof typeof DECODERS;
const CODINGS = Object.keys(DECODERS) as Coding[];

const bodyOf = (url: string, coding: Coding): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': coding } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
    }).on('error', reject);
  });

/** CPU of decoding one page, us: the least of several rounds over the same pages. */
function decodingUs(bodies: readonly Buffer[], decode: (body: Buffer) => Buffer): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS_OF_SAMPLES; round++) {
    const before = process.cpuUsage();
    for (const body of bodies) decode(body);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / bodies.length);
  }
  return least;
}

/** Full crawls by content coding, in turn; medians. */
export async function benchEncodings(
  say: (text: string) => void,
  site: Site,
  how: HowToCrawl,
  rounds: number,
): Promise<void> {
  const costs: Record<Coding, number[]> = { identity: [], gzip: [], br: [] };
  const decoding: Record<Coding, string> = { identity: '', gzip: '', br: '' };
  for (let round = 0; round < rounds; round++)
    for (const encoding of CODINGS)
      await withState({ ...site, encoding }, async ({ seeds, origins, log }, dir) => {
        costs[encoding].push(measuredCrawl({ ...how, dir, seeds }).cpuMs / site.pages);
        const { bodyBytes, pages } = await log();
        const urls = Array.from({ length: SAMPLES }, (_, i) => `${origins[i % origins.length]}/page/${i}.html`);
        const bodies = await Promise.all(urls.map((url) => bodyOf(url, encoding)));
        const us = decodingUs(bodies, DECODERS[encoding]);
        decoding[encoding] =
          `${(bodyBytes / pages / 1_000).toFixed(1)} KB a page sent${encoding === 'identity' ? '' : `, decoding alone ${us.toFixed(0)} us`}`;
      });
  const medianOf = (coding: Coding): number => costs[coding].sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN;
  for (const coding of CODINGS)
    say(
      `full crawl      answers ${coding.padEnd(8)}  ${medianOf(coding).toFixed(2)} ms CPU a page, ${(medianOf(coding) / medianOf('identity')).toFixed(2)} x that of identity (median of ${rounds} in turn); ${decoding[coding]}`,
    );
}
