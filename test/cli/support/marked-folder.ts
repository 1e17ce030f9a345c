import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workDir } from '../../support/work-dir.ts';

/** A folder for a crawl on this machine with a plugin that marks its pages, by `one` first. */
export function markedFolder(): string {
  const cwd = workDir();
  mkdirSync(join(cwd, 'conf/plugins/parsefilter-mark'), { recursive: true });
  // Small batches: a kill meets more of them.
  const settings = ['fetch: { delay: 0 }', 'http: { allowAddresses: [127.0.0.1] }', 'updatedb: { chunk: 8 }'];
  writeFileSync(join(cwd, 'conf/incrawl.yaml'), `${settings.join('\n')}\n`);
  const list = [
    'protocol-http',
    'parse-html',
    'parsefilter-mark',
    'signature-simhash',
    'schedule-freshness',
    'exporter-jsonl',
  ];
  writeFileSync(join(cwd, 'conf/plugins.yaml'), `plugins:\n${list.map((each) => `  - ${each}\n`).join('')}`);
  writeMark(cwd, 'one');
  return cwd;
}

/** Marks titles, and signs half of the text, another half for each mark. */
export function writeMark(cwd: string, mark: string): void {
  writeFileSync(
    join(cwd, 'conf/plugins/parsefilter-mark/plugin.mjs'),
    `export default {
  name: 'parsefilter-mark',
  api: 1,
  setup: () => ({
    content: '',
    filter(page) {
      page.result.title = '${mark}: ' + page.result.title;
      const words = page.$('p').text().split(' ');
      page.result.mainText = (${mark === 'one'} ? words.slice(0, 100) : words.slice(100)).join(' ');
      page.result.blocks = [];
    },
  }),
};
`,
  );
}
