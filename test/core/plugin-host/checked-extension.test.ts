import { describe, expect, it } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../../src/core/domain/errors.ts';
import {
  definePlugin,
  type ExtensionByKind,
  type Page,
  type Signature,
  signaturePair,
} from '../../../src/core/plugin-host/api/plugin-api.ts';
import { samplePage, testPlugin } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import { openSink } from '../../../src/core/plugin-host/exporting/export-sink.ts';
import { signatureFault } from '../../../src/core/plugin-host/loading/answer-checks.ts';
import { checkedExtension } from '../../../src/core/plugin-host/loading/checked-extension.ts';
import { admissionGates, applyUrlChain } from '../../../src/core/plugin-host/url-chain.ts';

type Schedule = ExtensionByKind['schedule'];
const DAY = 86_400_000;
const memory = { intervalMs: DAY, belief: null };
const visit = { now: 0, elapsedMs: null, outcome: 'new', evidence: 'first', distance: null } as const;
const first = { ...visit, changedAt: 0, lastModifiedAt: null };

const schedule = (onVisit: () => unknown, initialIntervalMs = DAY): Schedule =>
  checkedExtension('schedule', 'schedule-mine', { name: 'mine', initialIntervalMs, onVisit } as Schedule);
const thrower = (): never => {
  throw new Error('boom');
};

const HEAD = { status: 200, statusText: 'OK', httpVersion: '1.1', headers: {}, rawHeaders: [], remoteAddress: null };

describe('a plugin that violates its contract', () => {
  it.each([
    ['throws', thrower, 'schedule-mine: onVisit: boom'],
    [
      'gives no interval',
      () => ({ memory: { ...memory, intervalMs: 0 / 0 }, nextFetchAt: 1, terms: [] }),
      'intervalMs',
    ],
    ['gives no time', () => ({ memory, nextFetchAt: undefined, terms: [] }), 'nextFetchAt must be a number'],
    ['gives no terms', () => ({ memory, nextFetchAt: 1 }), 'terms must be a list'],
    [
      'gives half a belief',
      () => ({ memory: { ...memory, belief: { changes: 1 } }, nextFetchAt: 1, terms: [] }),
      'belief.watchedMs',
    ],
    ['gives nothing', () => undefined, 'schedule-mine: onVisit: '],
  ])('a schedule that %s is named, and nothing of it is kept', (_what, onVisit, words) => {
    const ask = (): unknown => schedule(onVisit).onVisit(memory, first);
    expect(ask).toThrow(CrawlError);
    expect(ask).toThrow(expect.objectContaining({ code: 'plugin-failed', message: expect.stringContaining(words) }));
  });

  it.each([undefined, Number.NaN, 0, -1])('a schedule that begins with an interval of %s cannot be set up', (ms) => {
    const broken = { name: 'mine', initialIntervalMs: ms, onVisit: thrower } as unknown as Schedule;
    expect(() => checkedExtension('schedule', 'schedule-mine', broken)).toThrow('setup must return initialIntervalMs');
  });

  it('a scoring that answers with no number is named', () => {
    const scoring = checkedExtension('scoring', 'scoring-mine', {
      seedScore: () => Number.NaN,
      outlinkScore: thrower,
      rank: () => undefined as unknown as number,
    });
    expect(() => scoring.seedScore('http://example.org/')).toThrow(
      'scoring-mine: seedScore: its answer must be a number',
    );
    expect(() => scoring.outlinkScore({} as never, {} as never, 1)).toThrow('scoring-mine: outlinkScore: boom');
    expect(() => scoring.rank({} as never, 0)).toThrow('scoring-mine: rank: its answer must be a number');
  });

  it('a schedule or a scoring that changes its arguments is named, and records stay unchanged', () => {
    const score = (given: { score: number }): number => {
      given.score = 9;
      return 1;
    };
    const scoring = checkedExtension('scoring', 'scoring-mine', {
      seedScore: () => 1,
      outlinkScore: score,
      rank: score,
    });
    const parent = newDatum({ url: 'http://example.org/', now: 0, intervalMs: DAY });
    const outlink = { url: 'http://example.org/a', anchor: '', rel: 'link', nofollow: false } as const;
    expect(() => scoring.outlinkScore(parent, outlink, 1)).toThrow('scoring-mine: outlinkScore: Cannot assign');
    const candidate = { ...outlink, score: 1, depth: 1, dueAt: 0, intervalMs: DAY, lastFetchAt: null, failures: 0 };
    expect(() => scoring.rank(candidate, 0)).toThrow('scoring-mine: rank: Cannot assign');
    expect([parent.score, candidate.score]).toEqual([1, 1]);
    const kept = { ...memory };
    const careless = checkedExtension('schedule', 'schedule-mine', {
      name: 'mine',
      initialIntervalMs: DAY,
      onVisit: (given: { intervalMs: number }) => {
        given.intervalMs = 1;
      },
    } as unknown as Schedule);
    expect(() => careless.onVisit(kept, first)).toThrow('schedule-mine: onVisit: Cannot assign');
    expect(kept).toEqual(memory);
  });

  // An unhandled rejection would end the process, and fail this file.
  const rejects = (async () => {
    throw new Error('boom');
  }) as () => never;
  const atOnce = 'must answer at once, not with a promise';

  it('a schedule or a scoring that answers with a promise is named, and its rejection ends nothing', () => {
    expect(() => schedule(rejects).onVisit(memory, first)).toThrow(`schedule-mine: onVisit: it ${atOnce}`);
    const scoring = checkedExtension('scoring', 'scoring-mine', {
      seedScore: rejects,
      outlinkScore: rejects,
      rank: rejects,
    });
    expect(() => scoring.rank({} as never, 0)).toThrow(`scoring-mine: rank: it ${atOnce}`);
  });

  it('a URL filter or normaliser that answers with a promise is named, and its rejection ends nothing', () => {
    const chain = (normalizers: object[], filters: object[]) =>
      applyUrlChain({ normalizers, filters } as never, 'http://example.org/', {
        from: null,
        depth: 0,
        seedHosts: new Set(),
      });
    const mine = (extension: object) => ({ name: 'mine', extension });
    expect(chain([mine({ normalize: rejects })], []).reason).toBe(`plugin-failed: mine: normalize ${atOnce}`);
    expect(chain([], [mine({ filter: rejects })]).reason).toBe(`plugin-failed: mine: filter ${atOnce}`);
    const reported: unknown[] = [];
    const log = { warn: (_: string, fields: object) => void reported.push(fields) } as never;
    const [gate] = admissionGates({ filters: [mine({ admit: rejects, learn: rejects })] } as never, log);
    expect(gate?.admit('http://example.org/')).toEqual({ admit: true });
    gate?.learn('http://example.org/');
    expect(reported).toEqual([{ plugin: 'mine', error: `admit ${atOnce}` }]);
  });

  it('a URL filter whose refusal has no reason, or whose admission is none, is named; long reasons are cut', () => {
    const filter = (verdict: unknown) => ({ name: 'mine', extension: { filter: () => verdict, admit: () => verdict } });
    const context = { from: null, depth: 0, seedHosts: new Set<string>() };
    const asked = (verdict: unknown) =>
      applyUrlChain({ normalizers: [], filters: [filter(verdict)] } as never, 'http://example.org/', context);
    const noReason = 'reason must be a string, not';
    expect(asked({ accept: false }).reason).toBe(`plugin-failed: mine: ${noReason} undefined`);
    expect(asked({ accept: false, reason: 5 }).reason).toBe(`plugin-failed: mine: ${noReason} 5`);
    const admitted = (verdict: unknown) => {
      const reported: { error?: string }[] = [];
      const log = { warn: (_: string, fields: object) => void reported.push(fields) } as never;
      const [gate] = admissionGates({ filters: [filter(verdict)] } as never, log);
      return [gate?.admit('http://example.org/'), reported[0]?.error];
    };
    const admit = { admit: true };
    expect(admitted(5)).toEqual([admit, 'admit must return {admit: boolean}']);
    expect(admitted({ admit: false })).toEqual([admit, `${noReason} undefined`]);
    expect(admitted({ admit: true, demote: 'x' })).toEqual([admit, 'demote must be above 0 and below 1, not x']);
    expect(admitted({ admit: true, demote: 0.5 })).toEqual([{ admit: true, demote: 0.5 }, undefined]);
    // Kept with each record, and the name of what summaries count.
    const reason = 'long'.repeat(1_000);
    const short = `${reason.slice(0, 500)}…`;
    expect(asked({ accept: false, reason }).reason).toBe(short);
    expect(admitted({ admit: false, reason })).toEqual([{ admit: false, reason: short }, undefined]);
    expect(admitted({ admit: true, demote: 0.5, reason })[0]).toEqual({ admit: true, demote: 0.5, reason: short });
  });

  it.each([
    ['title', 7, 'a string or null, not 7'],
    ['text', null, 'a string'],
    ['lang', undefined, 'a string or null, not undefined'],
    ['canonical', {}, 'a string or null'],
    ['noindex', 'false', 'true or false, not false'],
    ['metadata', null, 'a map'],
    ['outlinks', [{ url: 5, anchor: '', rel: 'link', nofollow: false }], 'a list of links'],
    ['outlinks', [null], 'a list of links'],
    ['blocks', [{}], 'a list of blocks'],
  ])('a parser or parse filter that leaves %s as %j costs its page, and is named', async (key, value, words) => {
    const spoil = (page: Page) => void Object.assign(page.result, { [key]: value });
    const parser = checkedExtension('parse', 'parse-mine', { types: ['text/html'], parse: spoil });
    const filter = checkedExtension('parsefilter', 'parsefilter-mine', { filter: spoil });
    const message = `result.${key} must be ${words}`;
    await expect(parser.parse(samplePage(''))).rejects.toThrow(message);
    await expect(filter.filter(samplePage(''))).rejects.toThrow(message);
    const plugin = definePlugin({ name: 'parsefilter-mine', api: 1, setup: () => ({ filter: spoil }) });
    await expect(testPlugin(plugin)).rejects.toThrow(message);
  });

  it.each([
    ['parse', { parse: () => {} }, 'types in lower case, not nothing'],
    ['parse', { types: 'text/html', parse: () => {} }, 'types in lower case, not "text/html"'],
    ['parse', { types: ['Text/HTML'], parse: () => {} }, 'types in lower case, not ["Text/HTML"]'],
    ['protocol', { exchange: thrower, close: thrower }, 'schemes in lower case, not nothing'],
    ['exporter', { fileExtension: 'txt', document: () => '' }, 'format in lower case, not [null]'],
  ] as const)(
    'a plugin of kind %s whose name for what it serves is none cannot be set up',
    (kind, extension, words) => {
      expect(() => checkedExtension(kind, `${kind}-mine`, extension as never)).toThrow(`setup must return ${words}`);
    },
  );

  it('a signature without an id cannot be set up, and one that throws or promises is named', () => {
    const signature = (extension: object) => checkedExtension('signature', 'signature-mine', extension as Signature);
    expect(() => signature({ sign: thrower })).toThrow('setup must return id, a name, not undefined');
    expect(() => signature({ id: 'm', sign: thrower }).sign(samplePage(''))).toThrow('signature-mine: sign: boom');
    expect(() => signature({ id: 'm', sign: rejects }).sign(samplePage(''))).toThrow(
      `signature-mine: sign: it ${atOnce}`,
    );
  });

  it.each([
    ['short', 'must be 16 hex digits or null, not short'],
    [undefined, 'must be 16 hex digits or null, not undefined'],
    [{ likeness: '0123456789abcdef' }, 'must be 16 hex digits or null, not undefined'],
    [{ likeness: 7, change: '0123456789abcdef' }, 'must be 16 hex digits or null, not 7'],
    [{ likeness: '0123456789abcdef', change: null }, 'has a signature for likeness, and must have one for change too'],
    [{ likeness: null, change: '0123456789abcdef' }, null],
    [{ likeness: null, change: null }, null],
    ['0123456789abcdef', null],
    [null, null],
  ])('a signature that answers %j', (answer, fault) => {
    expect(signatureFault(signaturePair(answer as string))).toBe(fault);
  });

  it('a text exporter that answers with a promise is named, and its rejection ends nothing', async () => {
    const target = { place: null, isIncremental: false, software: '', write: async () => {} } as never;
    const exporter = { format: 'mine', fileExtension: 'txt', document: rejects };
    const sink = await openSink(exporter, target);
    await expect(sink.document({} as never, {} as never)).rejects.toThrow(`document ${atOnce}`);
    await expect(openSink({ ...exporter, begin: rejects }, target)).rejects.toThrow(`begin ${atOnce}`);
  });

  it('a protocol that rejects costs the visit, but errors of the table and an abort pass as they are', async () => {
    const protocolOf = (exchange: () => unknown) =>
      checkedExtension('protocol', 'protocol-mine', {
        schemes: ['http'],
        exchange: async () => exchange() as never,
        close: async () => {},
      });
    const request = { url: 'http://example.org/', method: 'GET', headers: {}, maxBodyBytes: 1, timeoutMs: 1 } as const;
    const expected = { code: 'plugin-failed', message: 'protocol-mine: exchange: boom' };
    await expect(protocolOf(thrower).exchange(request)).rejects.toMatchObject(expected);
    await expect(protocolOf(() => ({})).exchange(request)).rejects.toMatchObject({ code: 'plugin-failed' });
    const known = new CrawlError('dns-failed', 'no such host');
    const fails = (error: unknown) => () => {
      throw error;
    };
    await expect(protocolOf(fails(known)).exchange(request)).rejects.toBe(known);
    const stop = new AbortController();
    stop.abort();
    const { reason } = stop.signal;
    await expect(protocolOf(fails(reason)).exchange({ ...request, signal: stop.signal })).rejects.toBe(reason);
  });

  it.each<[string, object, string]>([
    ['no head', { head: undefined }, 'the answer has no head with a status'],
    ['no headers', { head: { ...HEAD, headers: undefined } }, 'head.headers must be a map of strings'],
    ['a header that is a list', { head: { ...HEAD, headers: { vary: ['a', 'b'] } } }, 'head.headers must be a map of'],
    ['a name without a value', { head: { ...HEAD, rawHeaders: ['Vary'] } }, 'head.rawHeaders must be a list of'],
    ['no status text', { head: { ...HEAD, statusText: undefined } }, 'head.statusText and head.httpVersion must'],
    ['a text for a body', { body: '<p>' }, 'wireBody and body must be a Uint8Array or null'],
    ['half a body', { wireBody: null }, 'wireBody and body must be both null or none'],
    ['no bytes', { bodyBytes: Number.NaN }, 'bodyBytes and receivedBytes must be numbers'],
  ])('an answer of a protocol with %s costs the visit alone', async (_, part, message) => {
    const body = new Uint8Array(1);
    const whole = { head: HEAD, wireBody: body, body, truncated: false, bodyBytes: 1, receivedBytes: 20, ms: 1 };
    const protocolOf = (answer: object) =>
      checkedExtension('protocol', 'protocol-mine', {
        schemes: ['http'],
        exchange: async () => answer as never,
        close: async () => {},
      });
    const request = { url: 'http://example.org/', method: 'GET', headers: {}, maxBodyBytes: 1, timeoutMs: 1 } as const;
    expect(await protocolOf(whole).exchange(request)).toBe(whole);
    await expect(protocolOf({ ...whole, ...part }).exchange(request)).rejects.toMatchObject({
      code: 'plugin-failed',
      message: expect.stringContaining(`protocol-mine: exchange: ${message}`),
    });
  });

  it('answers that keep it go through', () => {
    const decision = {
      memory: { ...memory, belief: { changes: 1, watchedMs: 2, newUrls: 0, noise: 0, mostMs: null } },
      nextFetchAt: DAY,
      terms: [],
    };
    expect(schedule(() => decision).onVisit(memory, first)).toBe(decision);
    const plain = { seedScore: () => 2, outlinkScore: () => 1, rank: () => 0 };
    expect(checkedExtension('scoring', 'scoring-mine', plain).seedScore('http://example.org/')).toBe(2);
  });
});
