import type { Outlink } from 'incrawl/plugin';
import type { LinkResolver } from './link-resolver.ts';
import type { RawLink } from './page-facts.ts';

/**
 * Resolves the links of a page and merges duplicates, in the order of the page: the first one stays, with the first
 * non-empty anchor text, and is `nofollow`, or another version of the page, only if all are.
 * @param anchors gets the entries of the anchors of each URL
 */
export function mergeOutlinks(
  links: Iterable<RawLink>,
  resolve: LinkResolver,
  maxLinks: number,
  anchors: Map<string, number[]> = new Map(),
): Outlink[] {
  const merged = new Map<string, Outlink>();
  for (const link of links) {
    const url = resolve(link.href);
    if (url === null) continue;
    const known = merged.get(url);
    if (known === undefined) {
      if (merged.size >= maxLinks) continue;
      merged.set(url, outlinkOf(url, link));
    } else if ((known.nofollow && !link.nofollow) || (known.anchor === '' && link.anchor !== '')) {
      merged.set(url, { ...known, anchor: known.anchor || link.anchor, nofollow: known.nofollow && link.nofollow });
    }
    if (known?.variant !== undefined && link.variant === undefined) {
      const { variant: _, ...plain } = merged.get(url) as Outlink;
      merged.set(url, plain);
    }
    if (link.entry === undefined) continue;
    const entries = anchors.get(url);
    if (entries === undefined) anchors.set(url, [link.entry]);
    else entries.push(link.entry);
  }
  return [...merged.values()];
}

function outlinkOf(url: string, { rel, anchor, lang, nofollow, variant }: RawLink): Outlink {
  const link: Outlink = { url, anchor, rel, nofollow };
  if (lang === undefined && variant === undefined) return link;
  return { ...link, ...(lang !== undefined && { lang }), ...(variant !== undefined && { variant }) };
}
