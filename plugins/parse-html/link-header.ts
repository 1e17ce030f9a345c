export interface HeaderLink {
  readonly href: string;
  /** Parameters by name in lower case: `rel`, `hreflang`, `type`. */
  readonly attributes: Readonly<Record<string, string>>;
}

const MAX_HEADER_LINKS = 100;

/** Links of a `Link` header field (RFC 8288 section 3). Parts that violate the grammar are ignored. */
export function parseLinkHeader(header: string): HeaderLink[] {
  const links: HeaderLink[] = [];
  let at = 0;
  while (links.length < MAX_HEADER_LINKS) {
    const start = header.indexOf('<', at);
    const end = start < 0 ? -1 : header.indexOf('>', start);
    if (end < 0) break;
    const stop = endOfValue(header, end + 1);
    links.push({ href: header.slice(start + 1, end), attributes: parameters(header.slice(end + 1, stop)) });
    at = stop + 1;
  }
  return links;
}

/** The comma that ends a value: the first one outside quotes. */
function endOfValue(header: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < header.length; at++) {
    const character = header[at];
    if (character === '\\' && isQuoted) at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === ',' && !isQuoted) return at;
  }
  return header.length;
}

function parameters(text: string): Record<string, string> {
  const found: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [, name, quoted, token] of text.matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))/g)) {
    found[name!.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, '$1') ?? token!;
  }
  return found;
}
