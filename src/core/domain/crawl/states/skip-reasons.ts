import { ERRORS } from '../../errors.ts';

/** Where a URL was skipped: as a found link, as a due URL not selected by a round, or at its visit. */
export type SkipStage = 'found' | 'selected' | 'visited';

interface SkipFacts {
  readonly stage: SkipStage;
  readonly text: string;
  /** Setting or command that changes it. */
  readonly remedy: string;
}

const found = (text: string, remedy: string): SkipFacts => ({ stage: 'found', text, remedy });
const selected = (text: string, remedy: string): SkipFacts => ({ stage: 'selected', text, remedy });
const visited = (text: string, remedy: string): SkipFacts => ({ stage: 'visited', text, remedy });

const LATER = 'retried with growing pauses; "incrawl due retry" makes it due now';
const NEXT_TIME = 'checked again at its next visit; "incrawl due retry" makes it due now';

/** Reasons why a URL was not fetched, or its page not used. Closed and stable: scripts may rely on the names. */
export const SKIP_REASONS = {
  'url-invalid': found('The link is no URL that can be crawled.', 'none: mail addresses, scripts, broken links'),
  'url-filtered': found('A URL plugin refused it.', '"incrawl explain URL" names the rule; conf/plugins.yaml sets it'),
  'url-not-admitted': found('A counting URL filter has reached its limit for such URLs.', 'the options of that filter'),
  'like-urls-wait': found(
    'Its family of like URLs has used its share; the link waits, and enters when visits to the family bring something ' +
      'new, or as one of a few a day.',
    'the options of urlfilter-similarity; a seed enters at once',
  ),
  'too-many-queries': found(
    'Its path has too many query variants already.',
    'outlinks.maxVariantsPerPath, outlinks.beyondVariants',
  ),
  'noise-link': found('The link is in navigation, a footer or the like.', 'outlinks.noise'),
  'variant-link': found('The link only names the AMP, print or mobile version of its page.', 'outlinks.followVariants'),
  'noise-family': found(
    'Its URL is of a family of noise links.',
    'linkclusters.noise; "incrawl duplicates families --undo" takes the families back',
  ),
  nofollow: found('The link says nofollow.', 'outlinks.followNofollow'),
  'beyond-depth': found(
    'It is farther from a seed than the depth limit.',
    'crawl --depth, depth of hosts:, depth= of its seed',
  ),
  'rule-changed': selected('It is known, but the URL plugins refuse it now.', '"incrawl explain URL" names the rule'),
  'expression-not-met': selected('Its record does not match the expression of the round.', 'generate.where'),
  'state-not-asked': selected('It is in none of the requested states.', 'generate --status'),
  'below-min-score': selected('Its score is below the minimum.', 'generate.minScore'),
  'below-min-interval': selected('Its interval is below the minimum.', 'generate.minInterval'),
  'host-waits': selected(
    'Its host must not be contacted yet: its Crawl-delay is long, or it asked for a pause.',
    'none: the pace is that of the host. fetch.hostWait, fetch.crawlDelayPolicy',
  ),
  'host-day-used': selected(
    'Its host has had its visits of today.',
    'fetchesPerDay of hosts:, or a round of the next UTC day',
  ),
  'over-host-cap': selected(
    'Its host has its maximum of URLs in the round.',
    'generate.maxPerHost, or a further round',
  ),
  'over-domain-cap': selected(
    'Its domain has its maximum of URLs in the round.',
    'generate.maxPerDomain, or a further round',
  ),
  'over-top-n': selected('The round is full of URLs that rank higher.', 'generate.topN, a budget, or a further round'),
  gone: visited(
    'The server says that it is gone (404, 410).',
    'retried with growing pauses; "incrawl due retry --status gone"',
  ),
  'dns-failed': visited(ERRORS['dns-failed'].text, LATER),
  'connect-failed': visited(ERRORS['connect-failed'].text, LATER),
  'connect-timeout': visited(ERRORS['connect-timeout'].text, 'http.connectTimeout; retried with growing pauses'),
  'tls-failed': visited(ERRORS['tls-failed'].text, LATER),
  'proxy-failed': visited(ERRORS['proxy-failed'].text, 'http.proxy, proxy of hosts:; retried with growing pauses'),
  'fetch-timeout': visited(ERRORS['fetch-timeout'].text, LATER),
  'fetch-aborted': visited(ERRORS['fetch-aborted'].text, LATER),
  'protocol-error': visited(ERRORS['protocol-error'].text, LATER),
  'headers-too-large': visited(ERRORS['headers-too-large'].text, 'http.maxHeaderBytes'),
  'content-undecodable': visited(ERRORS['content-undecodable'].text, LATER),
  'body-incomplete': visited(
    ERRORS['body-incomplete'].text,
    'retried with growing pauses; the third visit takes what comes',
  ),
  'http-client-error': visited(ERRORS['http-client-error'].text, LATER),
  'http-server-error': visited(ERRORS['http-server-error'].text, LATER),
  'http-throttled': visited(ERRORS['http-throttled'].text, 'fetch.delay; retried when the server allows'),
  'host-failing': visited(ERRORS['host-failing'].text, LATER),
  'missing-unasked': visited(
    ERRORS['missing-unasked'].text,
    'schedule.missingIntervals; "incrawl due retry" makes it due now',
  ),
  'address-blocked': visited(ERRORS['address-blocked'].text, 'http.allowAddresses'),
  'robots-denied': visited(ERRORS['robots-denied'].text, NEXT_TIME),
  'robots-unreachable': visited(ERRORS['robots-unreachable'].text, LATER),
  'crawl-delay-too-long': visited(ERRORS['crawl-delay-too-long'].text, 'fetch.maxCrawlDelay, fetch.crawlDelayPolicy'),
  'scheme-unsupported': visited(ERRORS['scheme-unsupported'].text, 'a protocol plugin'),
  'redirect-invalid': visited(ERRORS['redirect-invalid'].text, NEXT_TIME),
  'redirect-limit': visited(ERRORS['redirect-limit'].text, 'fetch.maxRedirects'),
  'soft-404': visited(ERRORS['soft-404'].text, 'fetch.soft404; retried with growing pauses'),
  'login-required': visited(
    ERRORS['login-required'].text,
    'credentials or cookies of hosts:; "incrawl cookies import FILE" makes it due',
  ),
  'render-failed': visited(
    ERRORS['render-failed'].text,
    'render.timeout, render.maxMemory; render: never for the page',
  ),
  'parse-failed': visited(ERRORS['parse-failed'].text, NEXT_TIME),
  'parse-timeout': visited(ERRORS['parse-timeout'].text, 'parse.timeout'),
  'parse-unsupported': visited(ERRORS['parse-unsupported'].text, 'a parser plugin for its type'),
  'plugin-failed': visited(ERRORS['plugin-failed'].text, 'the plugin; the detail names it'),
  'other-failure': visited('A failure of a kind that is not in this list.', 'the detail names it'),
} as const satisfies Record<string, SkipFacts>;

export type SkipReason = keyof typeof SKIP_REASONS;

export const SKIP_REASON_NAMES = Object.keys(SKIP_REASONS) as readonly SkipReason[];

/** The reason of an error code of a visit. */
export function reasonOfCode(code: string): SkipReason {
  return Object.hasOwn(SKIP_REASONS, code) && SKIP_REASONS[code as SkipReason].stage === 'visited'
    ? (code as SkipReason)
    : 'other-failure';
}
