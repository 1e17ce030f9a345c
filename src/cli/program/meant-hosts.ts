import { closestName } from '../../core/domain/closest-name.ts';
import type { Session } from '../session.ts';

/** Maximum number of hosts that are named. */
const MOST_NAMED = 3;

/**
 * The message when no URL matches: a host that is not in the crawl is named, with similar hosts that may be meant.
 * @param host `undefined`: none was given
 */
export async function noMatchText(session: Session, host: string | undefined): Promise<string> {
  if (host === undefined) return 'No URL matches.';
  const known = await session.withReader(async (reader) => {
    const hosts: string[] = [];
    for await (const each of reader.hosts()) hosts.push(each.host);
    return hosts;
  });
  return noMatchOfHost(host, known);
}

/** @param known hosts of the crawl, with their ports if not the default of the scheme */
export function noMatchOfHost(host: string, known: readonly string[]): string {
  if (known.includes(host)) return 'No URL matches.';
  const alike = known.filter((each) => nameOf(each) === nameOf(host));
  const closest = closestName(host, known);
  const meant = alike.length > 0 || closest === undefined ? alike.slice(0, MOST_NAMED) : [closest];
  const hint = meant.length === 0 ? '"incrawl readdb --hosts" lists its hosts.' : `Did you mean ${meant.join(' or ')}?`;
  return `No URL matches: the crawl has no host ${host}. ${hint}`;
}

const nameOf = (host: string): string => host.replace(/:\d+$/, '').replace(/^www\./, '');
