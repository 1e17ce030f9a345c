import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import { isoTime } from '../../core/domain/time.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { decodeBody } from '../../core/plugin-host/parsing/decode.ts';
import { normalizedUrl } from '../../core/plugin-host/url-chain.ts';
import type { SegmentStore, WireResponse } from '../../core/ports/segment-store.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { requisiteDeps } from '../../operations/requisites/crawl-requisites.ts';
import type { AddressUse } from '../../operations/requisites/css-addresses.ts';
import { type StoredDocument, storedDocument, withAddresses } from '../../operations/requisites/stored-document.ts';
import { REQUISITES_FOLDER } from '../../operations/state/state-folder.ts';
import { nearestResponses, type ResponsePlace } from './nearest-responses.ts';
import type { VersionChoice } from './page-diff.ts';

/** A stored response, ready to be shown. */
export interface StoredCopy {
  readonly url: string;
  readonly segment: string;
  /** When it was fetched, ISO 8601. */
  readonly at: string;
  readonly status: number;
  /** MIME type in lower case, without parameters; of a page without one that of HTML. */
  readonly type: string;
  /** Whether it is what a browser made of the response. */
  readonly isRendered: boolean;
  /** Content codings undone. */
  readonly body: Uint8Array;
  /** A text as such, with its addresses replaced; `null`: it is none. */
  readonly text: string | null;
  /** How many requisites the text names, and how many of them are stored. */
  readonly requisites: { readonly named: number; readonly stored: number };
}

/** An address in a document: absolute, normalized, without its fragment. */
export interface FoundAddress {
  readonly url: string;
  readonly use: AddressUse;
  /** Of a requisite: the segment of the crawl of requisites that has it. `null`: none has; also of all others. */
  readonly segment: string | null;
  /** The time that the document shows, ms since the epoch. */
  readonly at: number;
}

/** Gives what takes the place of an address. */
export type AddressOf = (found: FoundAddress) => string;

/** Reads segments alone, those of requisites too; needs no crawl db. */
export interface StoredCopyOperations {
  /**
   * The stored response of a page: that of a segment, or the one nearest to a time; redirects are then followed.
   * `null`: none is stored. Requisites are those nearest to its time.
   */
  storedCopy(url: string, choice: VersionChoice, addressOf: AddressOf): Promise<StoredCopy | null>;
  /**
   * The stored response of a requisite in a segment of the crawl of requisites; what it needs itself is that nearest to
   * a time, ms since the epoch.
   */
  storedRequisite(url: string, segment: string, at: number, addressOf: AddressOf): Promise<StoredCopy | null>;
}

type CopyDeps = Omit<CrawlDeps, 'store'>;

export function storedCopyOperations(deps: CopyDeps): StoredCopyOperations {
  const hasRequisites = existsSync(join(deps.dir, REQUISITES_FOLDER));
  const requisites = hasRequisites ? requisiteDeps(deps).segments : null;
  return {
    async storedCopy(input, choice, addressOf) {
      const canonical = canonicalUrl(input);
      if ('error' in canonical) throw new CrawlError('url-invalid', `${input}: ${canonical.error}`);
      const { url } = canonical;
      const place =
        'segment' in choice
          ? { url, segment: choice.segment }
          : (await nearestResponses(deps.segments, [url], choice.at)).get(url);
      const found = place === undefined ? null : await readPlace(deps.segments, place);
      return found === null ? null : copyOf(deps, requisites, found, found.wire.at, addressOf, 'text/html');
    },
    async storedRequisite(url, segment, at, addressOf) {
      const found = requisites === null ? null : await readPlace(requisites, { url, segment });
      return found === null ? null : copyOf(deps, requisites, found, at, addressOf, '');
    },
  };
}

interface FoundResponse {
  readonly place: Omit<ResponsePlace, 'at'>;
  readonly wire: WireResponse;
}

async function readPlace(segments: SegmentStore, place: FoundResponse['place']): Promise<FoundResponse | null> {
  const segment = await segments.open(place.segment, 'read');
  try {
    const fetched = await segment.findFetched(place.url);
    if (fetched?.outcome.kind !== 'success' || fetched.warc === null) return null;
    const wire = await segment.readResponse(fetched.warc);
    return wire.body === null ? null : { place, wire: { ...wire, at: fetched.outcome.at } };
  } finally {
    await segment.close();
  }
}

async function copyOf(
  deps: CopyDeps,
  requisites: SegmentStore | null,
  { place, wire }: FoundResponse,
  at: number,
  addressOf: AddressOf,
  defaultType: string,
): Promise<StoredCopy> {
  const found = await storedDocument(wire, deps.pages.undoContentCoding);
  const document = { ...found, type: found.type || defaultType };
  const { loaded } = deps.plugins;
  const normalized = (address: string): string => normalizedUrl(loaded, address).url ?? address;
  const named = new Set<string>();
  withAddresses(document, place.url, (address, use) => {
    if (use === 'requisite') named.add(normalized(address));
    return null;
  });
  const stored = requisites === null ? new Map<never, never>() : await nearestResponses(requisites, named, at);
  const bytes = withAddresses(document, place.url, (address, use) => {
    const url = normalized(address);
    const response = use === 'requisite' ? stored.get(url) : undefined;
    return addressOf({ url: response?.url ?? url, use, segment: response?.segment ?? null, at });
  });
  return {
    ...place,
    at: isoTime(wire.at),
    status: wire.status,
    type: document.type,
    isRendered: wire.rendered !== undefined,
    body: document.body,
    text: bytes === null ? textOf(document) : Buffer.from(bytes).toString().replace(MARK, ''),
    requisites: { named: named.size, stored: stored.size },
  };
}

/** The byte order mark. */
const MARK = /^\uFEFF/;
const HTML: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TEXTUAL = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:xml|json|javascript|x-javascript|yaml|sql)$)/;

function textOf({ type, contentType, body }: StoredDocument): string | null {
  if (!HTML.has(type) && !TEXTUAL.test(type)) return null;
  const kind = HTML.has(type) ? 'html' : /xml$/.test(type) ? 'xml' : 'text';
  return decodeBody(body, { contentType, kind }).text.replace(MARK, '');
}
