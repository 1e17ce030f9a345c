import { measurement } from '../harness/measurement.ts';
import { twoCrawls } from './crawls.ts';
import { byThread, CRAWLING } from './measured-crawl.ts';

const { protocol, without } = CRAWLING;
const OPTIONS = { sizes: [1_000, 10_000, 100_000], protocol, without };

/** How the cost of a page grows with the size of the site: each is crawled twice. */
export const growth = measurement('crawls', OPTIONS, async ({ say, question }, { sizes, ...how }) => {
  const note = question('Pages of 6 KB, 24 links, compressed, by size of the site');
  for (const pages of sizes) {
    const { full, fullLog, second, change } = await twoCrawls({ pages, hosts: 5, make: 'light' }, how);
    const { modified, gone } = second.summary.totals;
    const size = `${pages.toLocaleString('en')} pages`;
    note(`pages fetched, ${size}`, fullLog.pages, 'pages', `>= ${pages}`);
    note(`CPU a page, ${size}`, full.cpuMs / pages, 'ms');
    note(`CPU of the second crawl against the full one, ${size}`, second.cpuMs / full.cpuMs, 'x');
    note(`peak memory, ${size}`, full.peakMb, 'MB');
    note(`peak memory without mapped files, ${size}`, full.peakOwnMb, 'MB');
    note(`peak memory of the second crawl, ${size}`, second.peakMb, 'MB');
    note(`peak memory of the second crawl without mapped files, ${size}`, second.peakOwnMb, 'MB');
    note(`changed and removed pages found, ${size}`, modified + gone, 'pages', `>= ${change.changed + change.removed}`);
    say(`CPU by thread, s: full ${byThread(full)}; second ${byThread(second)}`);
  }
});
