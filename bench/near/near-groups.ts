/** `npm run bench -- --only near`: look-ups of near fingerprints in memory compared with pairwise comparison. */
import {
  type Fingerprint,
  FingerprintTables,
  fingerprintDistance,
} from '../../src/domain/page/near/fingerprint-tables.ts';
import { seeded } from '../seeded.ts';

const KNOWN = 1_000_000;
const QUERIES = 200_000;

export function benchNear(verdict: (isGood: boolean, text: string) => void): void {
  const next = seeded(11);
  const any = (): number => Math.floor(next() * 2 ** 32);
  const flipped = ({ high, low }: Fingerprint, flips: number): Fingerprint => {
    let [h, l] = [high, low];
    for (let i = 0; i < flips; i++) {
      const bit = Math.floor(next() * 64);
      if (bit < 32) l = (l ^ (1 << bit)) >>> 0;
      else h = (h ^ (1 << (bit - 32))) >>> 0;
    }
    return { high: h, low: l };
  };
  const known = Array.from({ length: KNOWN }, () => ({ high: any(), low: any() }));
  const tables = new FingerprintTables();
  for (const [id, fingerprint] of known.entries()) tables.add(fingerprint, id);
  const queries = Array.from({ length: QUERIES }, (_, i) => flipped(known[(i * 37) % KNOWN]!, i % 6));
  const cpu = cpuMs(() => {
    for (const query of queries) tables.near(query, 3);
  });
  let brute = 0;
  let own = 0;
  for (const query of queries.slice(0, 300)) {
    for (const fingerprint of known) if (fingerprintDistance(fingerprint, query) <= 3) brute++;
    own += tables.near(query, 3).length;
  }
  const perSecond = Math.round(QUERIES / (cpu / 1_000));
  verdict(
    perSecond >= 100_000,
    `${perSecond.toLocaleString('en')} look-ups/s at ${KNOWN.toLocaleString('en')} fingerprints`,
  );
  verdict(own === brute, `${own} of ${brute} found that comparing with every one finds`);
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
