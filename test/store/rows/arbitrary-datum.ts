import fc from 'fast-check';
import { MAX_CHARS } from '../../../src/core/domain/crawl/change/block-memory.ts';
import { MAX_CHURN } from '../../../src/core/domain/crawl/change/change-belief.ts';
import {
  CRAWL_STATES,
  type CrawlDatum,
  DUE_CAUSES,
  VISIT_OUTCOMES,
} from '../../../src/core/domain/crawl/states/datum.ts';
import { TRUNCATIONS } from '../../../src/core/domain/crawl/states/truncation.ts';

const time = fc.integer({ min: 0, max: 4e12 });
const hex = (digits: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
const real = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));

/** Any record, the odd ones too: names such as `__proto__`, digests that are no digests. */
/** Characters and rewriting are kept of those with churn alone. */
const siblings = fc.array(
  fc
    .record({
      print: fc.nat({ max: 0xffff }),
      churn: fc.nat({ max: MAX_CHURN }),
      chars: fc.nat({ max: MAX_CHARS }),
      isRewritten: fc.boolean(),
    })
    .map((sibling) => (sibling.churn > 0 ? sibling : { ...sibling, chars: 0, isRewritten: false })),
  { minLength: 1, maxLength: 80 },
);

export const anyDatum: fc.Arbitrary<CrawlDatum> = fc.record({
  url: fc.nat(99).map((i) => `https://a.example/${i}`),
  state: fc.constantFrom(...CRAWL_STATES),
  discoveredAt: time,
  referrer: maybe(fc.webUrl()),
  depth: fc.nat(),
  seed: fc.boolean(),
  score: real,
  lastFetchAt: maybe(time),
  nextFetchAt: maybe(time),
  dueBy: fc.constantFrom(null, ...DUE_CAUSES),
  changedAt: maybe(time),
  schedule: fc.record({
    intervalMs: time,
    belief: maybe(fc.record({ changes: real, watchedMs: real, newUrls: real, noise: real, mostMs: maybe(real) })),
  }),
  fixedIntervalMs: maybe(time),
  failures: fc.nat(50),
  lastError: maybe(fc.record({ code: fc.string(), message: fc.string({ unit: 'grapheme' }), at: time })),
  httpStatus: maybe(fc.integer({ min: 100, max: 599 })),
  contentType: maybe(fc.string()),
  truncated: fc.constantFrom(null, ...TRUNCATIONS),
  rendered: maybe(
    fc.record({
      digest: hex(32),
      inputs: fc.array(
        fc.record({ url: fc.webUrl(), etag: maybe(fc.string()), lastModified: maybe(fc.string()), digest: hex(32) }),
        { maxLength: 8 },
      ),
    }),
  ),
  robotsTag: maybe(fc.string()),
  validators: fc.record({
    etag: maybe(fc.string()),
    lastModified: maybe(fc.string()),
    contentLength: maybe(fc.maxSafeNat()),
  }),
  digest: maybe(fc.oneof(hex(32), hex(3), fc.constantFrom('', 'ABCDEF', 'no digest'))),
  signature: maybe(hex(16)),
  changeSignature: maybe(hex(16)),
  changeDigest: maybe(hex(8)),
  sketch: maybe(hex(70)),
  signatureName: maybe(fc.string()),
  title: maybe(fc.string({ unit: 'grapheme', maxLength: 100 })),
  textChars: maybe(fc.nat()),
  stated: maybe(
    fc.record({
      authors: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 8 }),
      publishedAt: maybe(fc.nat(4e9).map((seconds) => 1_000 * seconds)),
      modifiedAt: maybe(fc.nat(4e9).map((seconds) => 1_000 * seconds)),
      lang: maybe(fc.string({ maxLength: 35 })),
    }),
  ),
  blocks: maybe(
    fc.record({
      blocks: fc.array(
        fc.record(
          {
            key: fc.nat({ max: 0xffff_ffff }),
            print: fc.nat({ max: 0xffff_ffff }),
            isMain: fc.boolean(),
            churn: fc.nat({ max: MAX_CHURN }),
            siblings,
          },
          { requiredKeys: ['key', 'print', 'isMain', 'churn'] },
        ),
        { maxLength: 16 },
      ),
      changed: fc.array(fc.string(), { maxLength: 3 }),
      volatile: fc.array(fc.string(), { maxLength: 3 }),
      places: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
      contentChars: fc.nat(1e6),
    }),
  ),
  target: maybe(fc.webUrl()),
  visits: fc.array(
    fc.record({
      at: time,
      outcome: fc.constantFrom(...VISIT_OUTCOMES),
      distance: maybe(fc.nat(64)),
      elapsedMs: maybe(time),
      bytes: fc.maxSafeNat(),
      intervalMs: time,
    }),
    { maxLength: 16 },
  ),
  metadata: fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'plugin.key')),
    fc.oneof(fc.string(), real, fc.boolean()),
    { noNullPrototype: true },
  ),
});
