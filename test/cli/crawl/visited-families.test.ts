import { beforeAll, describe, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/core/steps/round-summary.ts';
import type { Explanation } from '../../../src/crawler/index.ts';
import type { AppliedFamilies, UndoneFamilies } from '../../../src/crawler/views.ts';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json, run } from '../../support/program.ts';
import { ADVERTS, ARTICLE_PATHS, TAGS, taggedSite } from '../../support/tagged-site.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const site = served(taggedSite());
const crawlArgs = (...more: string[]): string[] => [
  ...['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0'],
  ...more,
];

interface Cluster {
  readonly size: number;
  readonly noise: boolean;
  readonly template?: string;
  readonly visits?: number;
}

describe('URLs of one template that are noise by what their visited pages brought', () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = workDir();
    await json(crawlArgs(), { cwd });
  });

  it('are tags and adverts at defaults, and neither archive, sections, lists nor articles', async () => {
    const clusters = await json<Cluster[]>(['duplicates', 'families'], { cwd });
    const host = new URL(site.origin).host;
    expect(clusters.filter(({ template }) => template !== undefined)).toMatchObject([
      { template: `${host}/ad/click?campaign`, size: ADVERTS / 3, noise: true, visits: ADVERTS / 3 },
      { template: `${host}/offer/*`, size: ADVERTS / 3, noise: true, visits: ADVERTS / 3 },
      { template: `${host}/tag/*`, size: TAGS, noise: true, visits: 20 },
    ]);
    // By their URLs none of them is.
    expect(clusters.filter(({ template, noise, size }) => template === undefined && noise && size > 1)).toEqual([]);
  });

  it('are kept, told of by explain, survive dump and load, and are taken back', async () => {
    const applied = await json<AppliedFamilies>(['duplicates', 'families', '--apply'], { cwd });
    expect(applied).toMatchObject({ domains: 1, families: 3, urls: TAGS + (2 * ADVERTS) / 3 });
    const why = await json<Explanation>(['explain', `${site.origin}/tag/another`], { cwd });
    expect(why.ifFound.join(' ')).toMatch(
      /of a noise family of [\d.:]+, [\d.:]+\/tag\/\*, with 24 URLs: 20 of 20 visited pages of it brought nothing .* So its score would be a tenth\./,
    );
    const other = await json<Explanation>(['explain', `${site.origin}/archive/2027/01`], { cwd });
    expect(other.family).toBeNull();
    const kept = await json<Cluster[]>(['duplicates', 'families', '--applied'], { cwd });
    expect(kept.map(({ visits }) => visits).sort()).toEqual([10, 10, 20]);
    const { stdout: dump } = await run(['db', 'export'], { cwd });
    const loaded = workDir();
    expect(await run(['db', 'import'], { cwd: loaded, input: dump })).toMatchObject({ code: 0 });
    expect(await json(['duplicates', 'families', '--applied'], { cwd: loaded })).toEqual(kept);
    expect((await run(['duplicates', 'families', '--applied'], { cwd })).stdout).toMatch(/20 of 20 +.*\/tag\/\*/);
    await json<UndoneFamilies>(['duplicates', 'families', '--undo'], { cwd });
    expect(await json(['duplicates', 'families', '--applied'], { cwd })).toEqual([]);
  });

  it.each(['demote', 'drop'])('%s: every article is fetched, and what is lowered is not lost', async (noise) => {
    const folder = workDir();
    const every = ['-D', 'linkclusters.every=1ms', '-D', `linkclusters.noise=${noise}`];
    const { totals } = await json<CrawlSummary>(crawlArgs(...every), { cwd: folder });
    const records = await json<RecordView[]>(['readdb', '--dump'], { cwd: folder });
    const fetched = new Set(records.filter(({ httpStatus }) => httpStatus === 200).map(({ url }) => url));
    expect(ARTICLE_PATHS.filter((path) => !fetched.has(site.origin + path))).toEqual([]);
    const count = (noise === 'drop' ? totals.filteredBy : totals.demotedBy)['linkclusters: noise family'] ?? 0;
    const known = records.filter(({ url }) => /\/(?:tag|ad|offer)\//.test(url)).length;
    if (noise === 'demote') expect(known).toBe(TAGS + (2 * ADVERTS) / 3);
    else expect(known + count).toBeGreaterThanOrEqual(TAGS + (2 * ADVERTS) / 3);
    // Whatever is left out is back when the families are.
    await json<UndoneFamilies>(['duplicates', 'families', '--undo'], { cwd: folder });
    await json<CrawlSummary>(crawlArgs(), { cwd: folder });
    const after = await json<RecordView[]>(['readdb', '--dump'], { cwd: folder });
    expect(after.filter(({ url }) => /\/(?:tag|ad|offer)\//.test(url))).toHaveLength(TAGS + (2 * ADVERTS) / 3);
  });
});
