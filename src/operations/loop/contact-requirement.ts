// operations/loop/: the crawl loop and its steps, bound to a configured crawl.
import { CrawlError } from '../../domain/errors.ts';

/**
 * The open web is not crawled by somebody who cannot be reached. Hosts that only the operator can reach, because the
 * address guard had to be told of them, need no contact.
 */
export function requireContact(contact: string, hosts: Iterable<string>, isOwn: (host: string) => boolean): void {
  if (contact !== '') return;
  for (const host of hosts) {
    if (isOwn(host)) continue;
    throw new CrawlError(
      'contact-missing',
      `${host} is on the open web: set agent.contact to a mail address or URL under which its operators reach you ` +
        '(in conf/incrawl.yaml, by --contact, or by -D agent.contact=you@example.org)',
    );
  }
}
