/** Sections of the configuration: user agent, HTTP limits, politeness. */
import { z } from 'zod';
import { choice, decimal, duration, flag, integer, size, text, texts } from '../fields.ts';
import { PROXY_URL, PROXY_WANTED } from '../hosts/host-keys.ts';
import { packageVersion } from '../package-version.ts';

export const agent = z.strictObject({
  name: text({
    default: 'incrawl',
    pattern: /^[A-Za-z_-]+$/,
    wanted: 'a product token of letters, "_" and "-" (RFC 9309)',
    prose: 'Product token: begins the User-Agent header and selects the group of robots.txt.',
  }),
  version: text({
    default: packageVersion(),
    pattern: /^[\w.+-]*$/,
    wanted: 'a version such as 1.2.0',
    prose: "Version in the User-Agent; by default the package's own.",
  }),
  contact: text({
    default: '',
    pattern: /^$|^(https?:\/\/|mailto:)?[!-'*-~]+$/,
    wanted: 'a mail address or a URL',
    prose:
      'Mail address or URL where site operators can reach you, sent with every request. Crawling the open web ' +
      'requires it.',
  }),
  acceptLanguage: text({
    default: '',
    pattern: /^[\w\-,;=.* ]*$/,
    wanted: 'a value for the Accept-Language header, such as "de, en;q=0.5"',
    prose: 'Accept-Language header. Empty: none is sent.',
  }),
});

export const http = z.strictObject({
  connectTimeoutMs: duration({
    default: '10s',
    min: '100ms',
    max: '10m',
    prose:
      'Time-out of name resolution, of connecting and of the TLS handshake, each. Where a host has several ' +
      'addresses, each but the last is tried for a quarter of it.',
  }),
  headTimeoutMs: duration({
    default: '20s',
    min: '100ms',
    max: '10m',
    prose: 'Time-out from the end of the request to the end of the response headers.',
  }),
  stallTimeoutMs: duration({
    default: '20s',
    min: '100ms',
    max: '10m',
    prose: 'Longest pause between two chunks of a body.',
  }),
  timeoutMs: duration({
    default: '60s',
    min: '100ms',
    max: '1h',
    prose: 'Deadline of a whole request, from the first packet to the last.',
  }),
  maxBodyBytes: size({
    default: '2MiB',
    min: '1KiB',
    max: '256MiB',
    prose: 'Longest body after decompression; the rest is cut off and the page marked as truncated.',
  }),
  maxHeaderBytes: size({
    default: '32KiB',
    min: '1KiB',
    max: '1MiB',
    prose: 'Longest header section of a response; a longer one fails the request.',
  }),
  proxy: text({
    default: 'none',
    pattern: new RegExp(`^(?:none|environment)$|${PROXY_URL.source}`),
    wanted: `none, environment, or ${PROXY_WANTED}`,
    prose:
      'Proxy of all requests except those to private and allowed hosts. environment: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY ' +
      'and NO_PROXY, where a user and a password may stand. The address guard cannot judge what a proxy resolves.',
  }),
  allowAddresses: texts({
    default: [],
    pattern: /^[^\s/]+(\/\d{1,3})?$/,
    wanted: 'host names, host:port, IP addresses or CIDR ranges',
    prose:
      'Exceptions from the guard against private and reserved addresses: host names, host:port, IP addresses, CIDR ' +
      'ranges. Loopback and intranet hosts are crawled only when named here.',
  }),
});

export const fetch = z.strictObject({
  probe: choice(['auto', 'head', 'headers', 'off'], {
    default: 'auto',
    prose:
      'How to learn that Content-Length and Last-Modified of a known page are unchanged, so that its body need not ' +
      'be transferred. head: by a HEAD request; headers: by the headers of the GET, whose body is then not read; ' +
      'auto: by the cheaper of both for the host; off: not at all.',
  }),
  auditShare: decimal({
    default: 0.1,
    min: 0,
    max: 1,
    prose:
      'Largest share of the visits that headers report as "unchanged" whose page is fetched in full all the same, to ' +
      'audit the headers. It falls with each audit of a host that found them right, to a fiftieth, and is back after ' +
      'one that found them wrong. 0: none; 1: every visit.',
  }),
  distrustMs: duration({
    default: '30d',
    min: '0s',
    max: '3650d',
    prose: 'Time for which the headers of a host are not trusted after an audit found them wrong.',
  }),
  soft404: flag({
    default: false,
    prose:
      'Request a URL that cannot exist from each host, once in 30 days, within robots.txt and its delay. Pages with ' +
      'the same content are gone, with soft-404 as the reason.',
  }),
  concurrency: integer({
    default: 50,
    min: 1,
    max: 1000,
    unit: 'exchanges',
    prose: 'Concurrent requests over all hosts.',
  }),
  connectionsPerHost: integer({
    default: 1,
    min: 1,
    max: 64,
    unit: 'exchanges',
    prose: 'Concurrent requests to one host.',
  }),
  delayMs: duration({
    default: '5s',
    min: '0s',
    max: '1h',
    prose:
      'Pause between the end of a request to a host and the start of the next one. A longer Crawl-delay in ' +
      'robots.txt wins. 0 is for servers of your own.',
  }),
  maxCrawlDelayMs: duration({
    default: '30s',
    min: '0s',
    max: '1d',
    prose: 'Longest Crawl-delay of robots.txt that is accepted; fetch.crawlDelayPolicy applies to longer ones.',
  }),
  crawlDelayPolicy: choice(['obey', 'skip'], {
    default: 'obey',
    prose:
      'Hosts whose Crawl-delay is longer than fetch.maxCrawlDelay: obey the delay, or skip the host and report ' +
      'crawl-delay-too-long.',
  }),
  maxRedirects: integer({
    default: 20,
    min: 0,
    max: 1000,
    unit: 'redirects',
    prose:
      'Redirects in a row that are followed. The target of a further one does not enter the crawl db; the URL keeps ' +
      'its redirect, with redirect-limit as the reason. 0: none is followed.',
  }),
  followRedirects: flag({
    default: true,
    prose:
      'Fetch the target of a redirect in the round of the redirect, as far as the size and the caps of the round and ' +
      'its budget allow. false: in the next round.',
  }),
  requisites: choice(['none', 'same-host', 'all'], {
    default: 'none',
    prose:
      'What pages need to be shown: style sheets with what they import, scripts, pictures, fonts, icons and media up to ' +
      '16 MiB. same-host: those on the host of the page; all: those of other hosts too. They are fetched after the ' +
      'pages, with records and intervals of their own, and are neither parsed nor counted as pages. What a browser ' +
      'fetched while it rendered a page is kept among them.',
  }),
  maxRequisites: integer({
    default: 100_000,
    min: 1,
    unit: 'requisites',
    prose: 'Most requisites that a crawl keeps; further ones are left out.',
  }),
  timeLimitMs: duration({
    default: '0s',
    min: '0s',
    max: '365d',
    prose: 'Longest time that a round may fetch; URLs not fetched by then stay due. 0: no limit.',
  }),
  hostWaitMs: duration({
    default: '5m',
    min: '1s',
    max: '1d',
    prose:
      'Longest time that a round of a crawl stays open for hosts that are slower than others: from the moment that one ' +
      'host has nothing left and the others are too few to use fetch.concurrency, and for a single Crawl-delay. URLs ' +
      'not fetched by then stay due, and their hosts go on in the next rounds at their own pace.',
  }),
  throughputThreshold: decimal({
    default: 0,
    min: 0,
    prose:
      'Pages a second, over all hosts, below which the fetch of a round ends, so that a few slow hosts do not hold up ' +
      'the rest of the crawl; URLs not fetched by then stay due. Checked every ten seconds after the first five minutes; ' +
      'six checks in a row must find it. 0: no limit.',
  }),
  hostFailureLimit: integer({
    default: 10,
    min: 1,
    unit: 'failures',
    prose: 'Consecutive failures after which a host is skipped for the rest of the round.',
  }),
  failureLimit: integer({
    default: 200,
    min: 1,
    unit: 'failures',
    prose:
      'Consecutive failures over all hosts after which the crawl stops with exit code 12, since the own network is ' +
      'probably down.',
  }),
});
