import type { ParseResult } from '../api/plugin-api.ts';
import { isMap, isNumber, isText } from './shapes.ts';

const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isYesOrNo = (value: unknown): boolean => typeof value === 'boolean';
const isListOf = (isItem: (item: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isItem);

const isAbsentOr = (isIt: (value: unknown) => boolean, value: unknown): boolean => value === undefined || isIt(value);

const isOutlink = (link: unknown): boolean =>
  isMap(link) &&
  isText(link.url) &&
  isText(link.anchor) &&
  isText(link.rel) &&
  isYesOrNo(link.nofollow) &&
  isAbsentOr(isText, link.noise) &&
  isAbsentOr(isText, link.lang) &&
  isAbsentOr(isNumber, link.lastModifiedAt);
const isBlock = (block: unknown): boolean =>
  isMap(block) &&
  isText(block.type) &&
  isText(block.path) &&
  isText(block.text) &&
  isNumber(block.links) &&
  isNumber(block.anchorChars);

const PROMISED: { readonly [Key in keyof ParseResult]: readonly [keeps: (value: unknown) => boolean, what: string] } = {
  title: [isTextOrNull, 'a string or null'],
  text: [isText, 'a string'],
  mainText: [isTextOrNull, 'a string or null'],
  blocks: [isListOf(isBlock), 'a list of blocks with type, path, text, links and anchorChars'],
  lang: [isTextOrNull, 'a string or null'],
  description: [isTextOrNull, 'a string or null'],
  keywords: [isListOf(isText), 'a list of strings'],
  canonical: [isTextOrNull, 'a string or null'],
  base: [isTextOrNull, 'a string or null'],
  noindex: [isYesOrNo, 'true or false'],
  nofollow: [isYesOrNo, 'true or false'],
  outlinks: [isListOf(isOutlink), 'a list of links with url, anchor, rel and nofollow'],
  metadata: [isMap, 'a map'],
};

/**
 * What of a result is not as {@link ParseResult} says, in words; `null` when all is. Later steps trust the types:
 * `updatedb` would fail at such a page, and at each try again.
 */
export function resultFault(result: ParseResult): string | null {
  for (const [key, [keeps, what]] of Object.entries(PROMISED)) {
    const value: unknown = result[key as keyof ParseResult];
    if (keeps(value)) continue;
    const found = typeof value === 'object' && value !== null ? '' : `, not ${String(value).slice(0, 60)}`;
    return `result.${key} must be ${what}${found}`;
  }
  return null;
}
