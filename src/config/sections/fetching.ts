/** Sections of the configuration: who asks, how long it waits, how often. */
import { z } from 'zod';
import { choice, decimal, duration, flag, integer, size, text, texts } from '../fields.ts';
import { packageVersion } from '../package-version.ts';

export const agent = z.strictObject({
  name: text({
    default: 'incrawl',
    pattern: /^[A-Za-z_-]+$/,
    wanted: 'a product token of letters, "_" and "-" (RFC 9309)',
    prose: 'Product token: begins the User-Agent and is the name that robots.txt is asked about.',
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
      'Mail address or URL under which the people who run the sites reach you, sent with every request. The open web is not crawled without it.',
  }),
  acceptLanguage: text({
    default: '',
    pattern: /^[\w\-,;=.* ]*$/,
    wanted: 'a value for the Accept-Language header, such as "de, en;q=0.5"',
    prose: 'Accept-Language header; none is sent when empty.',
  }),
});

export const http = z.strictObject({
  connectTimeoutMs: duration({
    default: '10s',
    min: '100ms',
    max: '10m',
    prose:
      'Longest wait for name resolution, connection and TLS handshake, each. Of several addresses of a host each but the last is tried for a quarter of it.',
  }),
  headTimeoutMs: duration({
    default: '20s',
    min: '100ms',
    max: '10m',
    prose: 'Longest wait for the head of the answer once the request has been sent.',
  }),
  stallTimeoutMs: duration({
    default: '20s',
    min: '100ms',
    max: '10m',
    prose: 'Longest pause between two pieces of a body.',
  }),
  timeoutMs: duration({
    default: '60s',
    min: '100ms',
    max: '1h',
    prose: 'Deadline of a whole exchange, from the first packet to the last.',
  }),
  maxBodyBytes: size({
    default: '2MiB',
    min: '1KiB',
    max: '256MiB',
    prose: 'Longest body, content codings undone; the rest is cut off and the page marked as truncated.',
  }),
  maxHeaderBytes: size({
    default: '32KiB',
    min: '1KiB',
    max: '1MiB',
    prose: 'Longest header section of an answer; a longer one fails the exchange.',
  }),
  allowAddresses: texts({
    default: [],
    pattern: /^[^\s/]+(\/\d{1,3})?$/,
    wanted: 'host names, host:port, IP addresses or CIDR ranges',
    prose:
      'What the guard against private and reserved addresses lets through all the same: host names, host:port, IP addresses, CIDR ranges. Loopback and intranet hosts must be named here to be crawled.',
  }),
});

export const fetch = z.strictObject({
  probe: choice(['auto', 'head', 'headers', 'off'], {
    default: 'auto',
    prose:
      'How a known page is asked whether Content-Length and Last-Modified are still the same, so that its body need not be transferred: by a HEAD request, by the headers of the GET whose body is then dropped, by whichever is cheaper for the host, or not at all.',
  }),
  auditShare: decimal({
    default: 0.1,
    min: 0,
    max: 1,
    prose:
      'Share of the visits which headers would settle as "unchanged" that are fetched in full to check the headers.',
  }),
  distrustMs: duration({
    default: '30d',
    min: '0s',
    max: '3650d',
    prose: 'How long the headers of a host that lied in an audit are not believed.',
  }),
  soft404: flag({
    default: false,
    prose:
      'Ask each host, once in 30 days and within robots.txt and its delay, for an address that cannot exist. Pages that say the same are gone, with soft-404 as the reason.',
  }),
  concurrency: integer({
    default: 50,
    min: 1,
    max: 1000,
    unit: 'exchanges',
    prose: 'Exchanges at a time, over all hosts.',
  }),
  connectionsPerHost: integer({
    default: 1,
    min: 1,
    max: 64,
    unit: 'exchanges',
    prose: 'Exchanges at a time with one host.',
  }),
  delayMs: duration({
    default: '5s',
    min: '0s',
    max: '1h',
    prose:
      'Pause between the end of an exchange with a host and the start of the next one. A longer Crawl-delay in robots.txt wins. 0 is for servers of your own.',
  }),
  maxCrawlDelayMs: duration({
    default: '30s',
    min: '0s',
    max: '1d',
    prose: 'Longest Crawl-delay of robots.txt taken for meant; fetch.crawlDelayPolicy says what happens beyond.',
  }),
  crawlDelayPolicy: choice(['obey', 'skip'], {
    default: 'obey',
    prose:
      'What to do with a host whose Crawl-delay is longer than fetch.maxCrawlDelay: visit it at its own pace all the same, or leave it out and report crawl-delay-too-long.',
  }),
  window: integer({
    default: 2000,
    min: 1,
    max: 1_000_000,
    unit: 'URLs',
    prose: 'URLs of the fetch list held in memory. More finds work for more hosts at once, and costs memory.',
  }),
  timeLimitMs: duration({
    default: '0s',
    min: '0s',
    max: '365d',
    prose: 'Longest time a round may fetch; what is left stays due. 0: no limit.',
  }),
  hostFailureLimit: integer({
    default: 10,
    min: 1,
    unit: 'failures',
    prose: 'Failures in a row after which a host is left alone for the rest of the round.',
  }),
  failureLimit: integer({
    default: 200,
    min: 1,
    unit: 'failures',
    prose:
      'Failures in a row over all hosts after which the crawl stops with exit code 12: more likely the network is down than the web.',
  }),
});
