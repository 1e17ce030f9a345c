// operations/loop/: the crawl loop and its steps, bound to a configured crawl.

import { CrawlError } from '../../core/domain/errors.ts';

/**
 * Public hosts are crawled only by a crawler whose operator can be reached. Own hosts need no contact: private
 * addresses, and hosts that `http.allowAddresses` names. Throws `contact-missing`.
 */
export function requireContact(contact: string, hosts: Iterable<string>, isOwn: (host: string) => boolean): void {
  if (contact !== '') return;
  for (const host of hosts) {
    if (isOwn(host)) continue;
    throw new CrawlError(
      'contact-missing',
      `${host} is a public host: set agent.contact to a mail address or URL by which its operators can reach you ` +
        '(in conf/incrawl.yaml, by --contact, or by -D agent.contact=you@example.org)',
    );
  }
}
