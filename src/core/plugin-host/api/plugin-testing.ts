/**
 * `incrawl/plugin-testing`: contract tests for each kind of plugin. They throw an `Error` that says what was expected
 * and what was found, so they work under any test runner: `await testPlugin(plugin, { options })`.
 */

import type { ScheduleVisit } from '../../domain/crawl/revisit/schedule.ts';
import { newDatum } from '../../domain/crawl/states/datum.ts';
import { deepFreeze } from '../../domain/deep-freeze.ts';
import { DAY_MS, HOUR_MS } from '../../domain/time.ts';
import { isUrl } from '../../domain/url/canonical/canonical-url.ts';
import { URL_SCOPES } from '../../domain/url/canonical/url-key.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { PageToParse } from '../../ports/page-parser.ts';
import { resultFault, signatureFault } from '../loading/answer-checks.ts';
import { readOptions } from '../loading/checked-extension.ts';
import { LivePage } from '../parsing/live-page.ts';
import { examineExporter } from './exporter-exam.ts';
import {
  type ExtensionByKind,
  kindOfPlugin,
  type Page,
  type PluginDefinition,
  type PluginHost,
  type PluginKind,
  type SignaturePair,
  signaturePair,
} from './plugin-api.ts';

export { madeDocument } from './exporter-exam.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const noNetwork: FetchProtocol = {
  schemes: ['http', 'https'],
  exchange: () => Promise.reject(new Error('the test host has no network')),
  close: async () => {},
};

/** A host for tests: silent, without network and files, with the default intervals. */
export const testHost: PluginHost = {
  log: silent,
  readTextFile: (path) => {
    throw new Error(`the test host has no file ${path}`);
  },
  http: { createGotProtocol: () => noNetwork, createUndiciProtocol: async () => noNetwork },
  now: () => Date.UTC(2026, 0, 1),
  agent: 'incrawl',
  intervals: { intervalMs: 30 * DAY_MS, minIntervalMs: HOUR_MS, maxIntervalMs: 90 * DAY_MS },
};

export interface PluginTestOptions {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly host?: PluginHost;
  /** Further URLs for normalisers and filters. */
  readonly urls?: readonly string[];
  /** Further bodies for parsers, parse filters and signatures. */
  readonly bodies?: readonly string[];
  /** Output of exporters that need one: a file, a folder, a URL. */
  readonly place?: string;
}

function check(condition: boolean, expected: string, found: unknown): asserts condition {
  if (!condition) throw new Error(`expected: ${expected}; found: ${String(JSON.stringify(found)).slice(0, 200)}`);
}

/** Sets a plugin up as the host does, runs the contract tests of its kind and returns the extension. */
export async function testPlugin<Kind extends PluginKind, Options>(
  plugin: PluginDefinition<Kind, Options>,
  given: PluginTestOptions = {},
): Promise<ExtensionByKind[Kind]> {
  const kind = kindOfPlugin(plugin.name);
  const options = checkedOptions(plugin, given.options ?? {});
  const extension = await plugin.setup(given.host ?? testHost, options);
  if (kind === 'urlfilter') {
    const filter = extension as ExtensionByKind['urlfilter'];
    filter.useFeatures?.(filter.features ?? {});
  }
  const exam = EXAMS[kind] as (extension: unknown, given: PluginTestOptions) => void | Promise<void>;
  await exam(extension, given);
  return extension;
}

function checkedOptions<Kind extends PluginKind, Options>(
  { name, options }: PluginDefinition<Kind, Options>,
  given: Readonly<Record<string, unknown>>,
): Options {
  if (options === undefined) {
    const [key] = Object.keys(given);
    if (key !== undefined) throw new TypeError(`${name}.${key}: this plugin has no options`);
    return {} as Options;
  }
  const read = readOptions<Options>(options, given);
  if ('options' in read) return deepFreeze(read.options);
  throw new TypeError(read.faults.map(({ path, message }) => `${[name, ...path].join('.')}: ${message}`).join('\n'));
}

const URLS = [
  'http://example.org/',
  'https://www.example.org:8443/a/b/../c?x=1&y=%20#frag',
  'http://example.org/?a=1&a=2',
  'http://xn--bcher-kva.example/%E4%BD%A0',
];

/** An object of JSON with its links by the usual names. */
function linkedObject(items: readonly object[]): object {
  const [url, link] = ['https://example.org/a', '/b'];
  return { title: 'A title', text: 'Words', url, href: url, link, links: [url, link], items, entries: items };
}

const BODIES = [
  '',
  '<html><head><title>A title</title></head><body><p>Some words about nothing in particular.</p></body></html>',
  '<p>unclosed <b>tags <i>everywhere',
  '<div>'.repeat(2_000),
  '\u0000\u0001\uFFFD binary',
  // With links, as types of all kinds have them.
  '<p><a href="https://example.org/a">one</a> <a href="b?c=1">another</a> <a rel="nofollow" href="/d">third</a></p>',
  JSON.stringify(linkedObject([linkedObject([]), linkedObject([])])),
  JSON.stringify([linkedObject([]), linkedObject([])]),
  'Words of a text, see https://example.org/a and [this](/b).\n',
  '<?xml version="1.0"?><feed><title>A title</title><entry><title>x</title><link href="/x"/></entry></feed>',
  '<?xml version="1.0"?><rss><channel><item><link>http://example.org/x</link></item></channel></rss>',
];

/** A page as parsers receive it. */
export function samplePage(body: string | Uint8Array, part: Partial<PageToParse> = {}): Page {
  return new LivePage({
    index: 0,
    url: 'http://example.org/page.html',
    contentType: 'text/html; charset=utf-8',
    headers: {},
    metadata: {},
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    ...part,
  });
}

function checkResult(page: Page): void {
  const { result } = page;
  const fault = resultFault(result);
  if (fault !== null) throw new Error(fault);
  const base = result.base ?? page.url;
  for (const { url } of result.outlinks) check(isUrl(url, base), 'outlinks are URLs, absolute or relative', url);
}

const VISITS: readonly Partial<ScheduleVisit>[] = [
  { outcome: 'new', evidence: 'first', elapsedMs: null },
  { outcome: 'modified', evidence: 'distance', distance: 9 },
  { outcome: 'unchanged', evidence: 'conditional' },
  { outcome: 'unchanged', evidence: 'headers' },
  { outcome: 'modified', evidence: 'digest' },
];

const EXAMS: {
  [Kind in PluginKind]: (extension: ExtensionByKind[Kind], given: PluginTestOptions) => void | Promise<void>;
} = {
  protocol: (extension) => {
    check(extension.schemes.length > 0, 'at least one scheme', extension.schemes);
    for (const scheme of extension.schemes)
      check(/^[a-z][a-z0-9+.-]*$/.test(scheme), 'schemes without a colon', scheme);
  },
  urlnormalizer: (extension, given) => {
    for (const url of [...URLS, ...(given.urls ?? [])]) {
      for (const scope of URL_SCOPES) {
        const once = extension.normalize(url, scope);
        check(once === null || isUrl(once), 'a URL or null', once);
        if (once === null) continue;
        const twice = extension.normalize(once, scope);
        check(twice === once, `idempotent on ${once} (scope ${scope})`, twice);
      }
    }
  },
  urlfilter: (extension, given) => {
    for (const url of [...URLS, ...(given.urls ?? [])]) {
      const verdict = extension.filter(url, { from: null, depth: 0, seedHosts: new Set() });
      check(typeof verdict.accept === 'boolean', 'a verdict with accept', verdict);
      if (!verdict.accept) check(verdict.reason.length > 0, 'a rejection with its reason', verdict);
    }
  },
  urlexemption: (extension, given) => {
    const refusal = { by: 'urlfilter-scope', reason: 'not a host of the seeds' };
    for (const url of [...URLS, ...(given.urls ?? [])]) {
      for (const scope of URL_SCOPES) {
        const context = { from: null, depth: 0, seedHosts: new Set<string>(), scope };
        const verdict = extension.exempt(url, refusal, context);
        check(typeof verdict.exempt === 'boolean', 'a verdict with exempt', verdict);
        if (verdict.exempt) check(verdict.reason.length > 0, 'an exemption with its reason', verdict);
        const again = extension.exempt(url, refusal, context);
        check(again.exempt === verdict.exempt, 'the same verdict for the same URL', again);
      }
    }
  },
  parse: async (extension, given) => {
    check(extension.types.length > 0, 'at least one MIME type', extension.types);
    for (const body of [...BODIES, ...(given.bodies ?? [])]) {
      const page = samplePage(body, { contentType: extension.types[0] ?? null });
      try {
        await extension.parse(page);
      } catch (error) {
        // A parser may refuse a body by throwing, as long as it is an Error.
        check(error instanceof Error, 'refusals are Errors', error);
        continue;
      }
      checkResult(page);
    }
  },
  parsefilter: async (extension, given) => {
    for (const body of [...BODIES, ...(given.bodies ?? [])]) {
      const page = samplePage(body);
      page.result.text = body;
      await extension.filter(page);
      checkResult(page);
    }
  },
  signature: (extension, given) => {
    check(extension.id.length > 0, 'an id', extension.id);
    for (const body of [...BODIES, ...(given.bodies ?? [])]) {
      const sign = (): SignaturePair => {
        const page = samplePage(body);
        page.result.text = body;
        return signaturePair(extension.sign(page));
      };
      const value = sign();
      const again = sign();
      check(signatureFault(value) === null, '16 hex digits or null, for likeness and for change', value);
      const isSame = again.likeness === value.likeness && again.change === value.change;
      check(isSame, 'the same signature for the same page', value);
    }
    const empty = signaturePair(extension.sign(samplePage('')));
    check(empty.likeness === null && empty.change === null, 'null for a page without words', empty);
  },
  schedule: (extension) => {
    check(extension.initialIntervalMs > 0, 'a positive start interval', extension.initialIntervalMs);
    let memory = { intervalMs: extension.initialIntervalMs, belief: null } as Parameters<typeof extension.onVisit>[0];
    let now = Date.UTC(2026, 0, 1);
    for (const part of [...VISITS, ...VISITS, ...VISITS]) {
      now += DAY_MS;
      const visit: ScheduleVisit = {
        now,
        elapsedMs: DAY_MS,
        outcome: 'unchanged',
        evidence: 'digest',
        distance: null,
        changedAt: now,
        lastModifiedAt: null,
        ...part,
      };
      const decision = extension.onVisit(deepFreeze(memory), deepFreeze(visit));
      const { intervalMs } = decision.memory;
      check(Number.isFinite(intervalMs) && intervalMs > 0, 'a positive interval', intervalMs);
      check(Number.isFinite(decision.nextFetchAt), 'a finite next fetch time', decision.nextFetchAt);
      check(decision.terms.length > 0, 'the terms of its arithmetic', decision.terms);
      memory = decision.memory;
    }
  },
  scoring: (extension) => {
    const now = Date.UTC(2026, 0, 1);
    const score = extension.seedScore('http://example.org/');
    // Frozen, as in a crawl.
    const parent = deepFreeze(newDatum({ url: 'http://example.org/', now, intervalMs: DAY_MS, score }));
    check(Number.isFinite(parent.score), 'a finite seed score', parent.score);
    const outlink = deepFreeze({ url: 'http://example.org/a', anchor: 'a', rel: 'link', nofollow: false } as const);
    const found = extension.outlinkScore(parent, outlink, 1);
    check(Number.isFinite(found), 'a finite outlink score', found);
    for (const inlinks of [64, 256, 4 ** 16]) {
      const { score: factor, visit } = extension.inlinkFactors?.(inlinks) ?? { score: 1, visit: 1 };
      check(factor > 0 && visit > 0 && factor + visit < Number.POSITIVE_INFINITY, 'factors above 0', [factor, visit]);
    }
    const candidate = {
      ...{ url: outlink.url, score: found, depth: 1, dueAt: now },
      ...{ intervalMs: DAY_MS, lastFetchAt: null, failures: 0 },
    };
    const rankOf = (change: Partial<typeof candidate>): number =>
      extension.rank(deepFreeze({ ...candidate, ...change }), now + DAY_MS);
    const rank = rankOf({});
    check(Number.isFinite(rank), 'a finite rank', rank);
    if (extension.ranksNewByScoreAndTime !== true) return;
    const [lower, later] = [rankOf({ score: found / 2 }), rankOf({ dueAt: now + DAY_MS })];
    check(lower <= rank, 'no higher rank for a lower score (ranksNewByScoreAndTime)', lower);
    check(later <= rank, 'no higher rank for a later due time (ranksNewByScoreAndTime)', later);
    check(rankOf({ depth: 9 }) === rank, 'the same rank at any depth (ranksNewByScoreAndTime)', rankOf({ depth: 9 }));
  },
  exporter: (extension, given) => examineExporter(extension, given.place ?? null, check),
};
