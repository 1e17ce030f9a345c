/**
 * What a record keeps of a rendered page, so that a later visit can say "unchanged" without a browser: the static page
 * is the same, and so is what its scripts asked for.
 */
export interface RenderedCopy {
  /** Digest of the static body, as `CrawlDatum.digest` is that of the rendered content. */
  readonly digest: string;
  /** At most {@link MAX_INPUTS}. */
  readonly inputs: readonly RenderInput[];
}

/** A response that the page was made from: data that its scripts asked for, or a script of its own host. */
export interface RenderInput {
  readonly url: string;
  readonly etag: string | null;
  /** `Last-Modified` verbatim. */
  readonly lastModified: string | null;
  /** First 128 bits of the SHA-256 of its decoded body, 32 hex digits. */
  readonly digest: string;
}

/** More would be a crawl of their own; what a page says is mostly in its first few. */
export const MAX_INPUTS = 8;
/** Longer addresses are not kept: a record is read and written at each visit. */
const MAX_INPUT_URL = 500;

/** The inputs to remember, data first. */
export function keptInputs(inputs: readonly (RenderInput & { readonly isData: boolean })[]): RenderInput[] {
  const fitting = inputs.filter(({ url }) => url.length <= MAX_INPUT_URL);
  const ordered = [...fitting.filter(({ isData }) => isData), ...fitting.filter(({ isData }) => !isData)];
  return ordered
    .slice(0, MAX_INPUTS)
    .map(({ url, etag, lastModified, digest }) => ({ url, etag, lastModified, digest }));
}
