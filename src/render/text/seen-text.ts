import type { SeenView } from '../../crawler/views.ts';
import { bytes, count, counted } from '../quantities.ts';
import { fieldLines, type TextStyle, table } from '../table.ts';

/** Leaves shown; `--json` has all. */
const SHOWN_LEAVES = 20;

/** State of the URL seen test for people: cache, Bloom filter, reads of the crawl db. */
export function seenText(view: SeenView, style: TextStyle): string {
  const { asked, cache, filter } = view;
  const fields: [string, string][] = [
    ['lookups', `${counted(asked.probes, 'URL')}`],
    [
      'cache',
      `${cache.kind}, up to ${counted(cache.urls, 'URL')}, ${counted(asked.cacheHits, 'hit')} (${percent(view.cacheHitRate)})`,
    ],
    ['reads', `${percent(view.readRate)} of the lookups read the crawl db`],
  ];
  const off = view.filterIn === 'off' ? 'off' : `on (${view.filterIn}); open in the process that writes, not here`;
  if (filter === null) return `${fieldLines([...fields, ['filter', off]])}\n`;
  const { estimatedFalsePositiveRate: estimated, falsePositiveRate: bound } = filter;
  const perUrl = filter.urls === 0 ? '' : `, ${(filter.bits / filter.urls).toFixed(1)} bits a URL`;
  const measured = view.measuredFalsePositiveRate;
  fields.push(
    ['filter', `${counted(filter.urls, 'URL')} in ${bytes(filter.bits / 8)}${perUrl}; ${filter.hash}`],
    [
      'tree',
      `${count(filter.rootLeaves)} slots, ${count(filter.leaves.length)} leaves, depth ${filter.depth}, ` +
        `${count(filter.splits)} splits, ${count(filter.growths)} growths`,
    ],
    [
      'leaf',
      `up to ${count(filter.bitsPerLeaf)} bits, ${filter.hashes} hashes a URL, full at ${counted(filter.capacity, 'URL')}`,
    ],
    [
      'false positives',
      `${percent(measured)} measured, ${percent(estimated)} estimated from the bits, limit ${percent(bound)}`,
    ],
    [
      'trust',
      view.trust === 'exact'
        ? 'exact: no new URL is lost'
        : `bloom: up to ${percent(view.mayLose)} of new URLs are lost`,
    ],
  );
  if (asked.filterFaults > 0)
    fields.push(['errors', `${count(asked.filterFaults)} batches without an answer of the filter`]);
  const leaves = table(
    [
      { title: 'leaf', cell: (leaf) => leaf.place },
      { title: 'urls', align: 'right', cell: (leaf) => count(leaf.urls) },
      { title: 'of', align: 'right', cell: (leaf) => count(leaf.capacity) },
      { title: 'bits', rank: 1, align: 'right', cell: (leaf) => count(leaf.bits) },
      { title: 'set', align: 'right', cell: (leaf) => percent(leaf.fill) },
    ],
    filter.leaves.slice(0, SHOWN_LEAVES),
    style,
  );
  const more = filter.leaves.length - SHOWN_LEAVES;
  return `${fieldLines(fields)}\n\n${leaves}${more > 0 ? `and ${count(more)} more leaves\n` : ''}`;
}

/** Small shares keep two significant digits. */
function percent(share: number | null): string {
  if (share === null) return '-';
  const value = 100 * share;
  return `${value === 0 || value >= 1 ? value.toFixed(1) : value.toPrecision(2)} %`;
}
