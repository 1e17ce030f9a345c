import type { Command } from 'commander';
import type { HostSitemaps, SitemapReport } from '../../../crawler.ts';
import { EXIT } from '../../exit.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import { asAsked, dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { addNetworkOptions } from '../../program/shared-options.ts';
import { count } from '../../render/quantities.ts';
import { safeText } from '../../render/safe-text.ts';
import { table } from '../../render/table.ts';

export function addSitemap(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('sitemap')
      .argument('[host...]', 'hosts or origins; default: the hosts of the seeds')
      .description('Read the sitemaps of hosts: new URLs enter the crawl db, newer dates bring known pages forward.'),
  )
    .option('--dry-run', 'read them, and only say what would be done; nothing is changed')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl sitemap https://example.org --contact me@example.org\n  incrawl sitemap --dry-run',
    );
  command.action((hosts: readonly string[], { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const stop = listenForStop(() => session.note('Finishing the sitemap in flight; once more stops at once.'));
      try {
        const read = await asAsked(session, dryRun, (crawler) =>
          crawler.sitemaps(hosts.length === 0 ? undefined : hosts, { signal: stop.signal }),
        );
        await session.out.write(
          session.json ? `${jsonOf(read, dryRun)}\n` : `${dryRunNotice(dryRun)}${sitemapText(read, session.bold)}`,
        );
        if (stop.signal.aborted) return EXIT.stopped;
        return hasRead(read.flatMap(({ sitemaps }) => sitemaps)) ? EXIT.done : EXIT.error;
      } finally {
        stop.release();
      }
    }),
  );
}

/** An index alone brings no URL: of the files that it names one must have been read, unless it names none. */
function hasRead(files: readonly SitemapReport[]): boolean {
  const usable = files.filter((file) => !isFailed(file));
  return usable.some(({ kind }) => kind !== 'sitemapindex') || (files.length > 0 && usable.length === files.length);
}

const isFailed = ({ error, kind, urls, faults }: SitemapReport): boolean =>
  error !== null || kind === 'none' || (urls === 0 && faults > 0);

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
  const parts = [kind === null || kind === 'none' ? 'no sitemap' : kind];
  if (datesIgnored) parts.push('dates ignored: all the same, or in the future');
  if (faults > 0) parts.push(`${count(faults)} faults`);
  return parts.join(', ');
}
