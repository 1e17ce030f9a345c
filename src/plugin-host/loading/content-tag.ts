import { murmur3 } from '../../domain/url/hash/murmur3.ts';
import type { ContentSource } from '../api/plugin-api.ts';
import { optionsJson } from './options-json.ts';

const TAG = /^[A-Za-z0-9]{0,24}$/;

/**
 * Tells what a parser or parse filter makes of the texts that are signed: its own word for it, and four hex digits that
 * follow from its options where these are not the default ones. Empty: nothing.
 * @param plugin its name without the kind
 * @param options and defaults: as they were checked, all values named
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
