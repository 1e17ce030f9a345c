// render/text/: summaries and answers as text.

import { createHash } from 'node:crypto';
import type { ChangeKind } from '../../core/domain/crawl/change/page-change.ts';
import type { ChangeView } from '../../crawler/index.ts';
import type { ChangesFilter } from '../../crawler/views.ts';
import { safeText } from '../safe-text.ts';

export interface AtomFeed {
  /** State directory, absolute: the feed of another directory has another id. */
  readonly dir: string;
  readonly filter: ChangesFilter;
  /** Newest first. */
  readonly entries: readonly ChangeView[];
  /** Version of the program. */
  readonly version: string;
  /** References relative to the address of the feed; `null` where it has none. */
  readonly links: { readonly self: string; readonly explain: (url: string) => string } | null;
}

/** Time of a feed without entries: it must have one, and a constant one. */
const NEVER = '1970-01-01T00:00:00.000Z';

/**
 * The change feed in the Atom Syndication Format (RFC 4287). An entry has the same id in every feed of a crawl,
 * whatever the selection, so that a reader subscribed to several shows it once.
 */
export function atomFeed({ dir, filter, entries, version, links }: AtomFeed): string {
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${uuidOf(`feed ${JSON.stringify([dir, filter.kinds, filter.host, filter.minDistance, filter.where])}`)}</id>`,
    `<title>${xmlText(titleOf(filter))}</title>`,
    `<updated>${updatedOf(entries)}</updated>`,
    '<author><name>incrawl</name></author>',
    `<generator version="${xmlText(version)}">incrawl</generator>`,
    ...(links === null ? [] : [`<link rel="self" type="application/atom+xml" href="${xmlText(links.self)}"/>`]),
    ...entries.map((entry) => entryOf(entry, links)),
    '</feed>',
  ];
  return `${lines.join('\n')}\n`;
}

/** When the feed last changed: its newest entry was written. */
export const updatedOf = (entries: readonly ChangeView[]): string => entries[0]?.notedAt ?? NEVER;

function entryOf(change: ChangeView, links: AtomFeed['links']): string {
  const { seq, kind, url, at, notedAt, title } = change;
  const explain = links === null ? [] : [`<link rel="related" href="${xmlText(links.explain(url))}"/>`];
  return [
    '<entry>',
    `<id>${uuidOf(`entry ${seq} ${notedAt} ${kind} ${url}`)}</id>`,
    `<title type="text">${xmlText(`${LABELS[kind]}: ${title === null || title.trim() === '' ? url : title}`)}</title>`,
    `<link rel="alternate" href="${xmlText(url)}"/>`,
    ...explain,
    `<published>${at}</published>`,
    `<updated>${notedAt}</updated>`,
    `<category term="${kind}"/>`,
    `<summary type="text">${xmlText(summaryOf(change))}</summary>`,
    '</entry>',
  ].join('\n');
}

const LABELS: Readonly<Record<ChangeKind, string>> = {
  new: 'New',
  modified: 'Modified',
  moved: 'Moved',
  gone: 'Gone',
  back: 'Back',
  duplicate: 'Duplicate',
  dropped: 'Dropped',
};

/** What changed, in sentences. */
function summaryOf({ kind, url, status, distance, target, blocks = [] }: ChangeView): string {
  const bits = distance === null ? '' : ` ${distance} of 64 bits of its signature differ.`;
  const places = blocks.length === 0 ? '' : ` Places that differ: ${blocks.join(', ')}.`;
  switch (kind) {
    case 'new':
      return `The page was fetched for the first time. ${url}`;
    case 'modified':
      return `The page was modified.${bits}${places} ${url}`;
    case 'back':
      return `The page is there again.${bits}${places} ${url}`;
    case 'moved':
      return `The page redirects to ${target}. ${url}`;
    case 'gone':
      return `The page is gone${status === null ? '' : ` (status ${status})`}. ${url}`;
    case 'duplicate':
      return `The page repeats ${target}. ${url}`;
    case 'dropped':
      return `The page is visited no more: its record was deleted. ${url}`;
  }
}

function titleOf({ kinds, host, minDistance, where }: ChangesFilter): string {
  const parts = [
    ...(kinds === undefined ? [] : [kinds.join(', ')]),
    ...(minDistance === undefined ? [] : [`at least ${minDistance} bits`]),
    ...(where === undefined ? [] : [where]),
  ];
  return `Changes${host === undefined ? '' : ` of ${host}`}${parts.length === 0 ? '' : ` (${parts.join('; ')})`}`;
}

/** A UUID of version 8 (RFC 9562) from a digest: always the same for the same text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(`incrawl ${text}`).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3];
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join('-')}`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text from the web as XML 1.0: characters that XML cannot express become a visible escape or U+FFFD. */
function xmlText(text: string): string {
  return safeText(text)
    .replace(/[\p{Surrogate}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"]/g, (char) => ENTITIES[char]!);
}
