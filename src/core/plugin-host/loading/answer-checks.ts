// core/plugin-host/loading/: plugin lists, options and modules, and the checks of what plugins answer.

/** Checks of a plugin's answers at run time: it may be JavaScript, so its types promise nothing. */
import { PAGE_VARIANTS } from '../../../page/links/page-series.ts';
import type { Exchange } from '../../ports/fetch-protocol.ts';
import type { ParseResult, SignaturePair } from '../api/plugin-api.ts';
import { LiveResult } from '../parsing/live-result.ts';

/**
 * The answer of a method that must not be asynchronous. A promise throws a `TypeError` here: no caller awaits it, and
 * its later rejection would end the process.
 */
export function atOnce<Answer>(method: string, answer: Answer): Answer {
  if (!isPromise(answer)) return answer;
  answer.then(undefined, () => {});
  throw new TypeError(`${method} must answer at once, not with a promise`);
}

const isPromise = (answer: unknown): answer is PromiseLike<unknown> =>
  answer !== null && typeof answer === 'object' && typeof (answer as { then?: unknown }).then === 'function';

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isNumberOrNull = (value: unknown): boolean => value === null || isNumber(value);
const isYesOrNo = (value: unknown): boolean => typeof value === 'boolean';
const isListOf = (isItem: (item: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isItem);

const isAbsentOr = (isIt: (value: unknown) => boolean, value: unknown): boolean => value === undefined || isIt(value);

const isVariant = (value: unknown): boolean => PAGE_VARIANTS.some((each) => each === value);

const isOutlink = (link: unknown): boolean =>
  isMap(link) &&
  isText(link.url) &&
  isText(link.anchor) &&
  isText(link.rel) &&
  isYesOrNo(link.nofollow) &&
  isAbsentOr(isText, link.noise) &&
  isAbsentOr(isText, link.lang) &&
  isAbsentOr(isVariant, link.variant) &&
  isAbsentOr(isNumber, link.lastModifiedAt);
const isBlock = (block: unknown): boolean =>
  isMap(block) &&
  isText(block.type) &&
  isText(block.path) &&
  isText(block.text) &&
  isNumber(block.links) &&
  isNumber(block.anchorChars);

const PROMISED: { readonly [Key in keyof ParseResult]-?: readonly [keeps: (value: unknown) => boolean, what: string] } =
  {
    title: [isTextOrNull, 'a string or null'],
    documentTitle: [(value) => isAbsentOr(isTextOrNull, value), 'a string, null or absent'],
    text: [isText, 'a string'],
    mainText: [isTextOrNull, 'a string or null'],
    blocks: [isListOf(isBlock), 'a list of blocks with type, path, text, links and anchorChars'],
    lang: [isTextOrNull, 'a string or null'],
    description: [isTextOrNull, 'a string or null'],
    keywords: [isListOf(isText), 'a list of strings'],
    authors: [isListOf(isText), 'a list of strings'],
    publishedAt: [isNumberOrNull, 'a number or null'],
    modifiedAt: [isNumberOrNull, 'a number or null'],
    siteName: [isTextOrNull, 'a string or null'],
    image: [isTextOrNull, 'a string or null'],
    sources: [isMap, 'a map'],
    canonical: [isTextOrNull, 'a string or null'],
    variant: [(value) => value === null || isVariant(value), `${PAGE_VARIANTS.join(', ')} or null`],
    nextPage: [isTextOrNull, 'a string or null'],
    pageNumber: [isNumberOrNull, 'a number or null'],
    articleBody: [isTextOrNull, 'a string or null'],
    base: [isTextOrNull, 'a string or null'],
    noindex: [isYesOrNo, 'true or false'],
    nofollow: [isYesOrNo, 'true or false'],
    outlinks: [isListOf(isOutlink), 'a list of links with url, anchor, rel and nofollow'],
    metadata: [isMap, 'a map'],
  };

/**
 * The first field of a result that is not as {@link ParseResult} declares it, in words; `null` when all are. Later
 * steps trust the types: `updatedb` would fail at such a page, and at every further attempt.
 */
export function resultFault(result: ParseResult): string | null {
  for (const [key, [keeps, what]] of Object.entries(PROMISED)) {
    if (result instanceof LiveResult && result.isWaiting(key)) continue;
    const value: unknown = result[key as keyof ParseResult];
    if (keeps(value)) continue;
    const found = typeof value === 'object' && value !== null ? '' : `, not ${String(value).slice(0, 60)}`;
    return `result.${key} must be ${what}${found}`;
  }
  return null;
}

const isDigest = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{8}$/.test(value);
const isFingerprint = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{16}$/.test(value);

/** What is wrong with the answer of a signature plugin, in words; `null`: nothing. */
export function signatureFault({ likeness, change, digest = null }: SignaturePair): string | null {
  for (const value of [likeness, change]) {
    if (value !== null && !isFingerprint(value)) return `must be 16 hex digits or null, not ${String(value)}`;
  }
  if (digest !== null && !isDigest(digest)) return `must have a digest of 8 hex digits or null, not ${String(digest)}`;
  return likeness !== null && change === null ? 'has a signature for likeness, and must have one for change too' : null;
}

const isBodyOrNull = (value: unknown): boolean => value === null || value instanceof Uint8Array;
const isCount = (value: unknown): boolean => isNumber(value) && (value as number) >= 0;

/**
 * The first field of an answer that is not as {@link Exchange} declares it, in words; `null` when all are. The stored
 * page, and its comparison at the next visit, trust the types.
 */
export function exchangeFault(answer: Exchange): string | null {
  const { head, wireBody, body, bodyBytes, receivedBytes } = (isMap(answer) ? answer : {}) as Partial<Exchange>;
  if (!isMap(head) || !isCount(head.status)) return 'the answer has no head with a status';
  if (!isMap(head.headers) || !Object.values(head.headers).every(isText))
    return 'head.headers must be a map of strings';
  if (!Array.isArray(head.rawHeaders) || head.rawHeaders.length % 2 === 1 || !head.rawHeaders.every(isText)) {
    return 'head.rawHeaders must be a list of names and values in turn';
  }
  if (!isText(head.statusText) || !isText(head.httpVersion))
    return 'head.statusText and head.httpVersion must be strings';
  if (!isBodyOrNull(wireBody) || !isBodyOrNull(body)) return 'wireBody and body must be a Uint8Array or null';
  if ((wireBody === null) !== (body === null)) return 'wireBody and body must be both null or none';
  return isCount(bodyBytes) && isCount(receivedBytes) ? null : 'bodyBytes and receivedBytes must be numbers';
}
