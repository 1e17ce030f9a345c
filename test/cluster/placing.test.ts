import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placing } from '../../src/cluster/partitions/partition-dir.ts';
import { canonicalUrl } from '../../src/core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../src/core/domain/url/canonical/url-key.ts';
import { newCrawlDbId, partitionByOf } from '../../src/operations/state/cluster-mark.ts';
import { domainOf } from '../../src/operations/system/domain-of.ts';
import { workDir } from '../support/work-dir.ts';

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const domain = fc.tuple(label, fc.constantFrom('com', 'co.uk', 'example', 'github.io')).map((each) => each.join('.'));
const host = fc.oneof(
  fc.tuple(fc.array(label, { maxLength: 2 }), domain).map(([below, own]) => [...below, own].join('.')),
  fc.ipV4(),
);
const url = fc
  .record({
    scheme: fc.constantFrom('http', 'https'),
    host,
    port: fc.constantFrom('', ':80', ':443', ':8080'),
    path: fc.webPath(),
    isUpper: fc.boolean(),
  })
  .map(
    ({ scheme, host: name, port, path, isUpper }) => `${scheme}://${isUpper ? name.toUpperCase() : name}${port}${path}`,
  );
const partitions = fc.constantFrom(1, 2, 4, 16, 64, 256);

/** The lane in which a URL waits for its turn. */
const laneOf = (text: string): string => {
  const canonical = canonicalUrl(text);
  if ('error' in canonical) throw new TypeError(canonical.error);
  return hostOf(canonical.url);
};

describe('the partition of a host', () => {
  it.each(['domain', 'host'] as const)('is one for all URLs of a lane, by %s', (by) => {
    fc.assert(
      fc.property(fc.array(url, { minLength: 2, maxLength: 30 }), partitions, (urls, count) => {
        const placeOf = placing(by, count);
        const places = new Map<string, number>();
        for (const each of urls) {
          const lane = laneOf(each);
          const place = placeOf(lane);
          expect(place).toBeGreaterThanOrEqual(0);
          expect(place).toBeLessThan(count);
          expect(places.get(lane) ?? place).toBe(place);
          places.set(lane, place);
        }
      }),
    );
  });

  it('is one for all hosts of a registrable domain by domain alone', () => {
    fc.assert(
      fc.property(domain, fc.array(label, { minLength: 1 }), partitions, (own, below, count) => {
        const placeOf = placing('domain', count);
        const hosts = below.map((name) => `${name}.${own}`).filter((name) => domainOf(name) === domainOf(own));
        for (const name of hosts) expect(placeOf(name)).toBe(placeOf(own));
      }),
    );
    const placeOf = placing('host', 16);
    const spread = new Set(Array.from({ length: 200 }, (_, i) => placeOf(`h${i}.example.org`)));
    expect(spread.size).toBe(16);
  });

  it('is told by the id of the crawl, on all machines', () => {
    const dir = workDir();
    for (const place of ['', 's3://bucket/crawl']) {
      expect(partitionByOf(newCrawlDbId(dir, place))).toBe('domain');
      expect(partitionByOf(newCrawlDbId(dir, place, 'host'))).toBe('host');
    }
  });
});
