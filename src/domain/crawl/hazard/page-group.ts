import { murmur3 } from '../../url/hash/murmur3.ts';

/** Groups of a host at most. Few folders change apart; as many are as good as one group a folder (decision 066). */
export const GROUPS = 32;

/** The folder of a URL: its path up to the last slash, e.g. `/docs/guide/`. */
export function folderOf(url: string): string {
  const path = url.indexOf('/', url.indexOf('://') + 3);
  if (path < 0) return '/';
  const query = url.indexOf('?', path);
  const end = query < 0 ? url.length : query;
  return url.slice(path, url.lastIndexOf('/', end - 1) + 1);
}

/** Number of the group of a page among those of its host, 0 to 31: pages of one folder are in one group. */
export const groupOf = (url: string): number => murmur3(folderOf(url)) % GROUPS;
