import type { Command } from 'commander';
import type { HostSitemaps, SitemapReport } from '../../crawler.ts';
import { EXIT } from '../exit.ts';
import type { Run } from '../program.ts';
import { count } from '../render/quantities.ts';
import { safeText } from '../render/safe-text.ts';
import { table } from '../render/table.ts';
import { addNetworkOptions } from '../shared-options.ts';
import { listenForStop } from '../stop-signal.ts';

export function addSitemap(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('sitemap')
      .argument('[host...]', 'hosts or origins; default: the hosts of the seeds')
      .description('Read the sitemaps of hosts: new URLs enter the crawl db, newer dates bring known pages forward.'),
  ).addHelpText('after', '\nExample:\n  incrawl sitemap https://example.org --contact me@example.org');
  command.action((hosts: readonly string[]) =>
    run(command, async (session) => {
      const stop = listenForStop(() => session.note('Finishing the sitemap in flight; once more stops at once.'));
      try {
        const read = await session.withCrawler((crawler) =>
          crawler.sitemaps(hosts.length === 0 ? undefined : hosts, { signal: stop.signal }),
        );
        await session.out.write(session.json ? `${JSON.stringify(read)}\n` : sitemapText(read, session.bold));
        if (stop.signal.aborted) return EXIT.stopped;
        return read.some(({ sitemaps }) => sitemaps.some(({ error }) => error === null)) ? EXIT.done : EXIT.error;
      } finally {
        stop.release();
      }
    }),
  );
}

function sitemapText(read: readonly HostSitemaps[], bold: (text: string) => string): string {
  const rows = read.flatMap(({ sitemaps }) => sitemaps);
  if (rows.length === 0) return 'No host to ask: inject seeds, or name a host.\n';
  const text = table<SitemapReport>(
    [
      { title: 'sitemap', max: 70, cell: (row) => row.sitemap },
      { title: 'urls', align: 'right', cell: (row) => count(row.urls) },
      { title: 'new', align: 'right', cell: (row) => count(row.added) },
      { title: 'sooner', align: 'right', cell: (row) => count(row.hinted) },
      { title: 'kept out', align: 'right', cell: (row) => count(row.filtered) },
      { title: '', cell: (row) => safeText(remark(row)) },
    ],
    rows,
    bold,
  );
  return text;
}

function remark({ error, kind, datesIgnored, faults }: SitemapReport): string {
  if (error !== null) return error;
  const parts = [kind ?? ''];
  if (datesIgnored) parts.push('dates ignored: all the same, or in the future');
  if (faults > 0) parts.push(`${count(faults)} faults`);
  return parts.join(', ');
}
