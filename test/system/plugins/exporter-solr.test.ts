import { madeDocument, testHost, testPlugin } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import plugin from '../../../plugins/exporter-solr/plugin.ts';

/** A core with the schema of README.md that this test may empty. */
const real = process.env.INCRAWL_TEST_SOLR ?? '';

describe.skipIf(real === '')('a real Solr (skipped unless INCRAWL_TEST_SOLR has the address of a core)', () => {
  const post = async (body: string): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${real}/update?commit=true`, { method: 'POST', headers, body })).status).toBe(200);
  };
  const found = async (query: string): Promise<string[]> => {
    await post('{}');
    const select = `${real}/select?wt=json&rows=100&sort=id%20asc&fl=id&q=${encodeURIComponent(query)}`;
    const { response } = (await (await fetch(select)).json()) as { response: { docs: { id: string }[] } };
    return response.docs.map(({ id }) => id);
  };

  it('takes pages, hostile ones too, replaces and deletes them', async () => {
    await post('{"delete":{"query":"*:*"}}');
    await testPlugin(plugin, { place: real, options: { firstPauseMs: 0 } });
    const second = 'https://example.org/a/b%20c/CON?x=1&y=%2F..%2F';
    expect(await found('*:*')).toEqual(['http://example.org/missing', second]);
    expect(await found('text:bold AND depth:3 AND metadata_flag:true')).toEqual([second]);
    expect(await found('changedAt:[2026-01-01T00:00:00Z TO *]')).toEqual([second]);
  });

  it('indexes the rest of a batch with a document that it refuses', async () => {
    await post('{"delete":{"query":"*:*"}}');
    const exporter = await plugin.setup(testHost, plugin.options?.parse({ firstPauseMs: 0 }) as never);
    if (!('open' in exporter)) throw new Error('it opens a sink');
    const sink = await exporter.open({
      place: real,
      isIncremental: false,
      software: 'test',
      crawl: { userAgent: 'test', operator: '', robots: 'classic' },
      write: async () => {},
      partial: (file) => `${file}.partial`,
      sorted: (lines) => lines,
    });
    for (let i = 0; i < 20; i++) {
      const fetchedAt = i === 7 ? 'no date' : '2026-03-01T08:00:00.000Z';
      const page = madeDocument(`http://e.example/${i}`, { fetchedAt, text: 'text' });
      await sink.document(page, { response: async () => null, markdown: async () => null });
    }
    await expect(sink.close()).rejects.toThrow(/refused 1 documents: http:\/\/e\.example\/7: .*no date/);
    expect(await found('text:text')).toHaveLength(19);
  });
});
