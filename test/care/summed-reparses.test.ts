import { expect, it } from 'vitest';
import { type ReparseSummary, ReparseTally, summedReparses } from '../../src/care/reparse/reparse-summary.ts';

const NONE = { marked: 0, restored: 0 };
const summaryOf = (more: Partial<ReparseSummary>): ReparseSummary => ({
  ...{ dryRun: false, selected: 0, notStored: 0, duplicates: NONE, missingPages: 0, orphans: 0, isCutShort: false },
  ...new ReparseTally(0).summary(),
  ...more,
});

it('the reparses of several partitions are one: sums, the mean of all pages, and as many examples as were asked for', () => {
  const failure = { code: 'parse-failed', status: null, visits: 1, url: 'https://a.example/', message: 'no' } as const;
  const example = { url: 'https://a.example/' } as ReparseSummary['examples'][number];
  const sum = summedReparses(
    [
      summaryOf({ selected: 3, parsed: 2, failed: 1, failures: [failure], fields: { title: 2, text: 1 } }),
      summaryOf({ signatures: { changed: 1, meanDistance: 10 }, fields: { text: 5 }, examples: [example, example] }),
      summaryOf({ signatures: { changed: 3, meanDistance: 2 }, failures: [failure], failed: 1, examples: [example] }),
    ],
    { dryRun: true, examples: 2, isCutShort: false },
  );
  expect(sum).toEqual(
    summaryOf({
      ...{ dryRun: true, selected: 3, parsed: 2, failed: 2, failures: [{ ...failure, visits: 2 }] },
      ...{ signatures: { changed: 4, meanDistance: 4 }, fields: { text: 6, title: 2 }, examples: [example, example] },
    }),
  );
  expect(Object.keys(sum.fields)).toEqual(['text', 'title']);
  const none = { dryRun: false, examples: 9, isCutShort: true };
  expect(summedReparses([], none)).toMatchObject({ parsed: 0, signatures: { meanDistance: null }, isCutShort: true });
});
