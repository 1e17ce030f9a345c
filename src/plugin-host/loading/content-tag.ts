import { murmur3 } from '../../domain/url/hash/murmur3.ts';
import type { ContentSource } from '../api/plugin-api.ts';
import { optionsJson } from './options-json.ts';

const TAG = /^[A-Za-z0-9]{0,24}$/;

/**
 * Version of the signed texts of a parser or parse filter: its `content`, and four hex digits of a hash of its options
 * where these differ from the defaults. Empty for a filter that leaves these texts alone.
 * @param plugin name without the kind
 * @param options validated options, with all defaults filled in; `defaults` likewise
 */
export function contentTag(
  { content }: ContentSource,
  plugin: string,
  options: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): string {
  if (content !== undefined && !TAG.test(content)) {
    throw new TypeError(`content must be at most 24 letters and digits, not ${JSON.stringify(content)}`);
  }
  const own = content ?? plugin.replace(/[^A-Za-z0-9]/g, '');
  const given = optionsJson(options);
  if (own === '' || given === optionsJson(defaults)) return own;
  return `${own}-${murmur3(given).toString(16).padStart(8, '0').slice(0, 4)}`;
}
