import type { Command } from 'commander';
import type { HostSitemaps, SitemapReport } from '../../../crawler/views.ts';
import { addNetworkOptions } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { count, counted } from '../../../render/quantities.ts';
import { safeText } from '../../../render/safe-text.ts';
import { ANY_LENGTH, type TextStyle, table } from '../../../render/table.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import { withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';

export function addSitemap(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('sitemap')
      .argument('[host...]', 'hosts or origins; default: the hosts of the seeds')
      .description(
        'Read the sitemaps of hosts: new URLs enter the crawl db, newer dates make known pages due earlier.',
      ),
  )
    .option('--dry-run', 'read the sitemaps, and only say what would be done; nothing is changed')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl due sitemap https://example.org --contact me@example.org\n  incrawl due sitemap --dry-run',
    );
  command.action((hosts: readonly string[], { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(command, (session) =>
      withStopSignal(
        session.surroundings,
        () => session.note(stopNote('the sitemap in flight')),
        async (signal) => {
          const named = hosts.length === 0 ? undefined : hosts;
          const mustExist = named === undefined;
          const read = await withCrawlerOrCopy(session, dryRun, (crawler) => crawler.sitemaps(named, { signal }), {
            mustExist,
          });
          await writeSummary(session, read, () => sitemapText(read, session), dryRun);
          if (signal.aborted) return EXIT.stopped;
          return hasRead(read.flatMap(({ sitemaps }) => sitemaps)) ? EXIT.done : EXIT.error;
        },
      ),
    ),
  );
}

/** Whether sitemaps were read. An index is not enough: one of its files must have been read, unless it names none. */
function hasRead(files: readonly SitemapReport[]): boolean {
  const usable = files.filter((file) => !isFailed(file));
  return usable.some(({ kind }) => kind !== 'sitemapindex') || (files.length > 0 && usable.length === files.length);
}

const isFailed = ({ error, kind, urls, faults }: SitemapReport): boolean =>
  error !== null || kind === 'none' || (urls === 0 && faults > 0);

function sitemapText(read: readonly HostSitemaps[], style: TextStyle): string {
  const rows = read.flatMap(({ sitemaps }) => sitemaps);
  if (rows.length === 0) return 'No hosts: inject seeds first, or name a host.\n';
  const text = table<SitemapReport>(
    [
      { title: 'sitemap', max: 70, cell: (row) => row.sitemap },
      { title: 'urls', align: 'right', cell: (row) => count(row.urls) },
      { title: 'new', align: 'right', cell: (row) => count(row.added) },
      { title: 'sooner', rank: 2, align: 'right', cell: (row) => count(row.hinted) },
      { title: 'filtered', rank: 3, align: 'right', cell: (row) => count(row.filtered) },
      { title: '', max: ANY_LENGTH, rank: 1, cell: (row) => safeText(remark(row)) },
    ],
    rows,
    style,
  );
  return text;
}

function remark({ error, kind, datesIgnored, faults }: SitemapReport): string {
  if (error !== null) return error;
  const parts = [kind === null || kind === 'none' ? 'no sitemap' : kind];
  if (datesIgnored) parts.push('dates ignored: all equal, or in the future');
  if (faults > 0) parts.push(counted(faults, 'error'));
  return parts.join(', ');
}
