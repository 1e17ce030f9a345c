import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { closestName } from '../../domain/closest-name.ts';
import type { FetchSchedule, ScheduleDecision } from '../../domain/crawl/revisit/schedule.ts';
import { deepFreeze, isPlain } from '../../domain/deep-freeze.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { UrlScope } from '../../domain/url/canonical/url-key.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { Log } from '../../ports/log.ts';
import type { Exporter } from '../api/exporter-api.ts';
import type {
  ExtensionByKind,
  Page,
  ParseFilter,
  Parser,
  PluginHost,
  PluginKind,
  Scoring,
  Signature,
} from '../api/plugin-api.ts';
import { atOnce, exchangeFault, resultFault } from './answer-checks.ts';
import type { PluginList } from './plugin-list.ts';
import { textOf } from './resolve-plugin.ts';

interface OptionFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Options validated by a plugin's schema, or their faults. Throws where the schema itself is invalid. */
export function readOptions<Options>(
  schema: unknown,
  given: Readonly<Record<string, unknown>>,
): { readonly options: Options } | { readonly faults: readonly OptionFault[] } {
  // It comes from a file: its type guarantees nothing.
  const { safeParse } = (schema ?? {}) as Partial<z.ZodType<Options>>;
  if (typeof safeParse !== 'function') throw new TypeError('options must be a zod schema, such as z.strictObject({})');
  const result = (schema as z.ZodType<Options>).safeParse(given);
  return result.success ? { options: result.data } : { faults: optionFaults(schema, result.error.issues) };
}

/** Issues that a schema reports, with one fault for each unknown option and the name that was probably meant. */
export function optionFaults(schema: unknown, issues: readonly z.core.$ZodIssue[]): OptionFault[] {
  return issues.flatMap((issue): OptionFault[] => {
    if (issue.code !== 'unrecognized_keys') return [issue];
    const known = namesAt(schema, issue.path);
    return issue.keys.map((key) => {
      const guess = closestName(key, known);
      const path = [...issue.path, key];
      return { path, message: `unknown option${guess === undefined ? '' : `, did you mean ${guess}?`}` };
    });
  });
}

/** Option names of an object schema below a path; none without a `shape`. It may come from another copy of zod. */
function namesAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  let at = schema as { readonly shape?: Readonly<Record<PropertyKey, unknown>> } | undefined;
  for (const key of path) at = at?.shape?.[key] as typeof at;
  return Object.keys(at?.shape ?? {});
}

/** Options as JSON. A schema may have turned them into values that JSON lacks, such as a `Set` or a `RegExp`. */
export const optionsJson = (options: Readonly<Record<string, unknown>>): string => JSON.stringify(options, reported);

function reported(_key: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  const isKnown = value === null || isPlain(value) || (typeof value !== 'object' && typeof value !== 'bigint');
  return isKnown ? value : String(value);
}

/**
 * An extension whose answers are checked at run time. Its errors name the plugin. NaN never reaches the crawl db, where
 * a page without a next fetch time would be lost, and a malformed parse result never reaches a segment. Errors of
 * parsers, parse filters, URL filters and exporters are named by their callers.
 */
export function checkedExtension<Kind extends PluginKind>(
  kind: Kind,
  name: string,
  extension: ExtensionByKind[Kind],
): ExtensionByKind[Kind] {
  const checks: Partial<Record<PluginKind, () => unknown>> = {
    schedule: () => checkedSchedule(name, extension as FetchSchedule),
    scoring: () => checkedScoring(name, extension as Scoring),
    protocol: () => checkedProtocol(name, extension as FetchProtocol),
    parse: () => checkedParser(extension as Parser),
    parsefilter: () => checkedParseFilter(extension as ParseFilter),
    signature: () => checkedSignature(name, extension as Signature),
    exporter: () => checkedExporter(extension as Exporter),
  };
  return (checks[kind]?.() ?? extension) as ExtensionByKind[Kind];
}

function checkedSchedule(name: string, schedule: FetchSchedule): FetchSchedule {
  const { initialIntervalMs } = schedule;
  if (!(Number.isFinite(initialIntervalMs) && initialIntervalMs > 0)) {
    throw new TypeError(`setup must return initialIntervalMs, ms above 0, not ${String(initialIntervalMs)}`);
  }
  return {
    name: schedule.name,
    initialIntervalMs,
    onVisit: (memory, visit) =>
      asked(name, 'onVisit', () => {
        const decision: ScheduleDecision = atOnce('it', schedule.onVisit(deepFreeze(memory), deepFreeze(visit)));
        const { intervalMs, belief } = decision.memory;
        number('memory.intervalMs', intervalMs);
        if (belief !== null)
          for (const key of ['changes', 'watchedMs', 'newUrls', 'noise'] as const)
            number(`memory.belief.${key}`, belief[key]);
        number('nextFetchAt', decision.nextFetchAt);
        if (!Array.isArray(decision.terms)) throw new TypeError('terms must be a list');
        return decision;
      }),
    ...(schedule.goesByHazard === true && { goesByHazard: true }),
  };
}

function checkedScoring(name: string, scoring: Scoring): Scoring {
  const { inlinkFactors } = scoring;
  return {
    seedScore: (...args) => asked(name, 'seedScore', () => number('its answer', scoring.seedScore(...args))),
    // Frozen: a record that the plugin changed here would no longer agree with its index rows.
    outlinkScore: (parent, outlink, depth) =>
      asked(name, 'outlinkScore', () =>
        number('its answer', scoring.outlinkScore(deepFreeze(parent), deepFreeze(outlink), depth)),
      ),
    rank: (entry, now) => asked(name, 'rank', () => number('its answer', scoring.rank(deepFreeze(entry), now))),
    ...(inlinkFactors !== undefined && {
      inlinkFactors: (inlinks: number) =>
        asked(name, 'inlinkFactors', () => {
          const { score, visit } = inlinkFactors.call(scoring, inlinks);
          return { score: factor('score', score), visit: factor('visit', visit) };
        }),
    }),
    ranksNewByScoreAndTime: scoring.ranksNewByScoreAndTime === true,
  };
}

/** A protocol rejects with `CrawlError`; any other error is a fault of the plugin, and fails only this visit. */
function checkedProtocol(name: string, protocol: FetchProtocol): FetchProtocol {
  checkNames('schemes', protocol.schemes);
  return {
    schemes: protocol.schemes,
    exchange: async (request) => {
      try {
        const answer = await protocol.exchange(request);
        const fault = exchangeFault(answer);
        if (fault !== null) throw new TypeError(fault);
        return answer;
      } catch (error) {
        const isCalledOff = request.signal?.aborted === true;
        if (isCalledOff || (error instanceof Error && error.name === 'CrawlError')) throw error;
        throw failed(name, 'exchange', error);
      }
    },
    close: () => protocol.close(),
  };
}

function checkedParser(parser: Parser): Parser {
  checkNames('types', parser.types);
  const { maxMemory } = parser;
  if (maxMemory !== undefined && !(Number.isFinite(maxMemory) && maxMemory > 0)) {
    throw new TypeError(`setup must return maxMemory, bytes above 0, or leave it out, not ${String(maxMemory)}`);
  }
  return {
    types: parser.types,
    ...(maxMemory !== undefined && { maxMemory }),
    parse: async (page) => {
      await parser.parse(page);
      checkResult(page);
    },
  };
}

function checkedParseFilter(filter: ParseFilter): ParseFilter {
  return {
    filter: async (page) => {
      await filter.filter(page);
      checkResult(page);
    },
  };
}

function checkResult({ result }: Page): void {
  const fault = resultFault(result);
  if (fault !== null) throw new TypeError(fault);
}

function checkedExporter(exporter: Exporter): Exporter {
  checkNames('format', [exporter.format]);
  return exporter;
}

/** Lookups use lower case: a name in capitals would never be found. */
function checkNames(what: string, names: readonly unknown[]): void {
  const isName = (name: unknown): boolean => typeof name === 'string' && name !== '' && name === name.toLowerCase();
  if (!Array.isArray(names) || names.length === 0 || !names.every(isName)) {
    throw new TypeError(`setup must return ${what} in lower case, not ${JSON.stringify(names) ?? 'nothing'}`);
  }
}

function checkedSignature(name: string, signature: Signature): Signature {
  const { id } = signature as { readonly id: unknown };
  if (typeof id !== 'string' || id === '') throw new TypeError(`setup must return id, a name, not ${String(id)}`);
  return { id, sign: (page) => asked(name, 'sign', () => atOnce('it', signature.sign(page))) };
}

function asked<Answer>(name: string, method: string, ask: () => Answer): Answer {
  try {
    return ask();
  } catch (error) {
    throw failed(name, method, error);
  }
}

const failed = (name: string, method: string, cause: unknown): CrawlError =>
  new CrawlError('plugin-failed', `${name}: ${method}: ${textOf(cause)}`, { cause });

function factor(what: string, value: unknown): number {
  const found = number(what, value);
  if (found > 0) return found;
  throw new TypeError(`${what} must be above 0, not ${found}`);
}

function number(what: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError(`${what} must be a number, not ${String(atOnce('it', value))}`);
}

export interface HostOptions extends Pick<PluginHost, 'http' | 'agent' | 'intervals' | 'now'> {
  /** Folder that relative paths in plugin options refer to. */
  readonly baseDir: string;
  readonly log: Log;
}

/** The host of one plugin, and a digest of the files that the plugin has read through it so far. */
export function hostFor(
  name: string,
  options: HostOptions,
): { readonly host: PluginHost; readonly filesDigest: () => string } {
  const named = (fields?: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
    plugin: name,
    ...fields,
  });
  const { log, http, agent, intervals, now, baseDir } = options;
  const files = createHash('sha256');
  const host: PluginHost = Object.freeze({
    log: {
      debug: (message: string, fields?: Readonly<Record<string, unknown>>) => log.debug(message, named(fields)),
      info: (message: string, fields?: Readonly<Record<string, unknown>>) => log.info(message, named(fields)),
      warn: (message: string, fields?: Readonly<Record<string, unknown>>) => log.warn(message, named(fields)),
      error: (message: string, fields?: Readonly<Record<string, unknown>>) => log.error(message, named(fields)),
    },
    readTextFile: (path: string) => {
      const text = readFileSync(resolve(baseDir, path), 'utf8');
      files.update(`${text.length} `).update(text);
      return text;
    },
    http,
    now,
    agent,
    intervals,
  });
  return { host, filesDigest: () => files.copy().digest('hex') };
}

/** The normalisers of each scope that the list names, in its order. Throws `config-invalid` for an unknown name. */
export function scopedNormalizers<Normalizer extends { readonly name: string }>(
  normalizers: readonly Normalizer[],
  scopes: NonNullable<PluginList['scopes']>,
): Map<UrlScope, readonly Normalizer[]> {
  return new Map(
    (Object.entries(scopes) as [UrlScope, readonly string[]][]).map(([scope, names]) => [
      scope,
      names.map((name) => {
        const found = normalizers.find((each) => each.name === name);
        if (found !== undefined) return found;
        const known = normalizers.map((each) => each.name).join(', ') || 'none';
        throw new CrawlError(
          'config-invalid',
          `scopes.${scope}: ${name} is no URL normalizer of the list of plugins; those are: ${known}`,
        );
      }),
    ]),
  );
}
