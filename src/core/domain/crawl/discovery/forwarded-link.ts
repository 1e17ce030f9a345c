// core/domain/crawl/discovery/: how URLs enter: seeds, sitemap dates, rules for links, refusals.

/**
 * A link found in one partition of a crawl to a URL of another one, which judges it like a link of its own (forwarding
 * by the hash of the site, as in UbiCrawler: P. Boldi et al., 2004). Plain data: whatever the score of the URL depends
 * on is computed where the page is known.
 */
export interface ForwardedLink {
  /** Canonical, and admitted by the URL filters of the finder. */
  readonly url: string;
  /** The page that links there. */
  readonly from: string;
  readonly depth: number;
  /** When it was found, ms since the epoch. */
  readonly at: number;
  /** Score that the link gives to the URL. */
  readonly score: number;
  /** The same where the link does not count as noise. */
  readonly plainScore: number;
  /** Reason why the link is noise; `null`: it is not. */
  readonly noise: string | null;
  /** Redirects in a row that led to it; 0: it is a link. */
  readonly redirects: number;
  /** Crawl depth of the seed from which the page was found; `null`: it has none of its own. */
  readonly layers: number | null;
}

/** What one process puts into the inbox of a partition that another one may hold. */
export type InboxItem =
  | { readonly links: readonly ForwardedLink[] }
  /** Lines of a seed list, whose URLs belong to the partition. */
  | { readonly seeds: readonly string[] }
  /** Hosts of seeds of the whole crawl, by which scope filters judge. */
  | { readonly seedHosts: readonly string[] }
  | { readonly order: Order };

/** A command for the pages of a partition, as plain data. */
export interface Order {
  readonly command: string;
  readonly args: readonly unknown[];
}

/**
 * Links on their way to another partition, as one parcel: a row for each would be written and removed twice, and cost
 * more than the page that it leads to. Numbers rise, and are given once.
 */
export interface OutboxRow {
  readonly to: number;
  readonly number: number;
  readonly links: readonly ForwardedLink[];
}

/** A link for another partition. */
export interface OutgoingLink {
  readonly to: number;
  readonly link: ForwardedLink;
}

/** Links or seeds of a parcel, at most: some 20 KB, of which a few dozen are applied at once. */
export const PARCEL_SIZE = 128;

/** Links by their receivers, as parcels in the order in which their first links came. */
export function parcelsOf(links: readonly OutgoingLink[]): Omit<OutboxRow, 'number'>[] {
  const parcels: { readonly to: number; readonly links: ForwardedLink[] }[] = [];
  const open = new Map<number, ForwardedLink[]>();
  for (const { to, link } of links) {
    let parcel = open.get(to);
    if (parcel === undefined || parcel.length >= PARCEL_SIZE) {
      parcel = [];
      open.set(to, parcel);
      parcels.push({ to, links: parcel });
    }
    parcel.push(link);
  }
  return parcels;
}

export interface InboxRow {
  /** A partition, by {@link senderOf}, or another name of letters, digits, `_` and `-`. */
  readonly from: string;
  readonly number: number;
  readonly item: InboxItem;
}

/** Name of a partition as a sender, and of all that belongs to it: three digits. */
export const senderOf = (partition: number): string => String(partition).padStart(3, '0');

/**
 * Whether the last number of a sender is remembered after its rows were applied. For a partition it is, as a partition
 * may hand over a row twice. All others put a row once, and applying it again does no harm.
 */
export const isPartition = (sender: string): boolean => /^\d{3}$/.test(sender);

/** Metadata of a record: a page of another partition links to it. */
export const LINKED_ELSEWHERE_KEY = 'linkedElsewhere';
