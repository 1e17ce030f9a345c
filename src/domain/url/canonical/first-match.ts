import { type HostPattern, matchesHost, matchesUrl } from './host-pattern.ts';

/** A list of settings in which the first entry whose pattern matches decides. */
export interface FirstMatch<Entry> {
  forUrl(url: string): Entry | undefined;
  /** The first entry that is for a host as a whole: what its URLs share, such as the delay, is asked of it. */
  forHost(host: string): Entry | undefined;
}

export function createFirstMatch<Entry>(
  entries: readonly { readonly pattern: HostPattern; readonly entry: Entry }[],
): FirstMatch<Entry> {
  return {
    forUrl: (url) => entries.find(({ pattern }) => matchesUrl(pattern, url))?.entry,
    forHost: (host) => entries.find(({ pattern }) => matchesHost(pattern, host))?.entry,
  };
}
