import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findPackage } from '../../../../src/core/packages/find-package.ts';
import { startChangingSite } from '../../../cli/support/changing-site.ts';
import { workDir } from '../../../support/work-dir.ts';
import { json } from '../../support/binary.ts';

interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string): Promise<{
      connect(): Promise<{ runAndReadAll(sql: string): Promise<{ getRowsJS(): unknown[][] }> }>;
    }>;
  };
}

/** A parser and reader that is not ours. */
const [copy] = findPackage('duckdb');

async function readCsv(file: string, fields: string): Promise<unknown[][]> {
  const duckdb = copy!.require('@duckdb/node-api') as DuckDb;
  const connection = await (await duckdb.DuckDBInstance.create(':memory:')).connect();
  const query = `SELECT ${fields} FROM read_csv('${file}', header = true) ORDER BY url`;
  return (await connection.runAndReadAll(query)).getRowsJS();
}

const WORDS = 'Words enough for the content of a page, which says something, "quoted", and, with commas.';
const page = (title: string): string => `<!doctype html><title>${title}</title><main><p>${WORDS}</p></main>`;
const network = ['--allow', '127.0.0.1', '--delay', '0'];
const title = 'a csv file is read by another program as it was written';

it.skipIf(copy === undefined)(copy === undefined ? `${title} (no @duckdb/node-api here)` : title, async () => {
  const cwd = workDir();
  const site = await startChangingSite({
    '/formula': page('=HYPERLINK(&quot;http://x&quot;)'),
    '/goes': page('Goes'),
  });
  onTestFinished(() => site.close());
  const urls = ['/formula', '/goes'].map((path) => site.origin + path);
  await json(['crawl', ...urls, ...network], { cwd });
  site.pages.delete('/goes');
  await json(['due', 'touch', ...urls], { cwd });
  await json(['crawl', ...network], { cwd });
  await json(['export', '--format', 'csv', '--since', '2001-01-01', '-o', 'pages.csv'], { cwd });
  expect(await readCsv(join(cwd, 'pages.csv'), 'url, title, state, deleted')).toEqual([
    [urls[0], `'=HYPERLINK("http://x")`, 'notmodified', null],
    [urls[1], null, 'gone', true],
  ]);
});
