import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { murmur3 } from '../../../page/near/hashes.ts';
import { deepFreeze } from '../../domain/deep-freeze.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import {
  type ContentSource,
  type Exporter,
  type ExtensionByKind,
  type FetchSchedule,
  kindOfPlugin,
  type ParseFilter,
  type Parser,
  type PluginDefinition,
  type PluginKind,
  type Scoring,
  type Signature,
  type UrlExemption,
  type UrlFeatures,
  type UrlFilter,
  type UrlNormalizer,
  type UrlScope,
} from '../api/plugin-api.ts';
import {
  checkedExtension,
  type HostOptions,
  hostFor,
  optionsJson,
  readOptions,
  scopedNormalizers,
} from './checked-extension.ts';
import type { PluginList, PluginListEntry } from './plugin-list.ts';
import { importPlugin, resolvePlugin, textOf } from './resolve-plugin.ts';

/** Everything outside a plugin's code that its answers depend on, and where its code is. */
export interface PluginSource {
  readonly name: string;
  readonly file: string;
  readonly bundled: boolean;
  /** As the plugin list gives them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Digest of the files that it read by `readTextFile` during setup. */
  readonly filesDigest: string;
}

/**
 * Fingerprint of a plugin, 16 hex digits: it changes with the plugin's options, the files that it reads, and its own
 * file. The code of bundled plugins does not count: otherwise each update of incrawl would look like new URL rules.
 */
export function pluginPrint({ name, file, bundled, options, filesDigest }: PluginSource): string {
  const code = bundled ? '' : readFileSync(file, 'utf8');
  return createHash('sha256')
    .update(JSON.stringify([name, optionsJson(options), filesDigest, code]))
    .digest('hex')
    .slice(0, 16);
}

const TAG = /^[A-Za-z0-9]{0,24}$/;

/**
 * Version of the signed texts of a parser or parse filter: its `content`, and four hex digits of a hash of its options
 * where these differ from the defaults. Empty for a filter that leaves these texts alone.
 * @param plugin name without the kind
 * @param options validated options, with all defaults filled in; `defaults` likewise
 */
export function contentTag(
  { content }: ContentSource,
  plugin: string,
  options: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): string {
  if (content !== undefined && !TAG.test(content)) {
    throw new TypeError(`content must be at most 24 letters and digits, not ${JSON.stringify(content)}`);
  }
  const own = content ?? plugin.replace(/[^A-Za-z0-9]/g, '');
  const given = optionsJson(options);
  if (own === '' || given === optionsJson(defaults)) return own;
  return `${own}-${murmur3(given).toString(16).padStart(8, '0').slice(0, 4)}`;
}

interface FeatureSource {
  readonly kind: string;
  readonly name: string;
  readonly extension: object | null;
}

/** Gives each URL filter the features that all of them contribute. */
export function shareFeatures(entries: readonly FeatureSource[]): void {
  const filters = entries.flatMap(({ kind, name, extension }) =>
    kind === 'urlfilter' && extension !== null ? [{ name, extension: extension as UrlFilter }] : [],
  );
  const features: UrlFeatures = Object.assign({}, ...filters.map(({ extension }) => extension.features ?? {}));
  for (const { name, extension } of filters) {
    try {
      extension.useFeatures?.(features);
    } catch (error) {
      throw new CrawlError('config-invalid', `${name}: ${textOf(error)}`, { cause: error });
    }
  }
}

export interface LoadedPlugin<Kind extends PluginKind = PluginKind> {
  readonly name: string;
  readonly kind: Kind;
  readonly file: string;
  readonly bundled: boolean;
  /** `null`: the plugin was not imported here; {@link shippedOptions} returns its options. */
  readonly options: Readonly<Record<string, unknown>> | null;
  /** Of parsers and parse filters: version of the signed texts, see {@link contentTag}; empty for other kinds. */
  readonly content: string;
  /**
   * Of URL normalisers, filters and exemptions: fingerprint of their rules, see {@link pluginPrint}; empty for other
   * kinds.
   */
  readonly print: string;
  /** `null` for kinds that were not set up in this thread. */
  readonly extension: ExtensionByKind[Kind] | null;
}

export interface LoadedPlugins {
  readonly entries: readonly LoadedPlugin[];
  /** By scheme. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  readonly normalizers: readonly { readonly name: string; readonly extension: UrlNormalizer }[];
  readonly filters: readonly { readonly name: string; readonly extension: UrlFilter }[];
  /** The normalisers of the scopes that the list names. */
  readonly scopes: ReadonlyMap<UrlScope, LoadedPlugins['normalizers']>;
  readonly exemptions: readonly { readonly name: string; readonly extension: UrlExemption }[];
  /** The parser of a MIME type. `content` names the version of the signed texts after it and all parse filters. */
  parserFor(
    contentType: string,
  ): { readonly name: string; readonly extension: Parser; readonly content: string } | undefined;
  /** Whether any parser sets {@link Parser.maxMemory}. */
  readonly hasDocumentParser: boolean;
  readonly parseFilters: readonly { readonly name: string; readonly extension: ParseFilter }[];
  /** By short name: `simhash` for `signature-simhash`. */
  readonly signatures: ReadonlyMap<string, Signature>;
  readonly schedules: ReadonlyMap<string, FetchSchedule>;
  readonly scoring: Scoring | null;
  /** By format. */
  readonly exporters: ReadonlyMap<string, Exporter>;
}

/** `baseDir` is also where relative plugin paths begin. */
export interface LoadOptions extends HostOptions {
  readonly list: PluginList;
  /** Kinds to set up. Other kinds are only imported and checked; bundled plugins without options not even that. */
  readonly kinds: ReadonlySet<PluginKind>;
}

export const MAIN_THREAD_KINDS: ReadonlySet<PluginKind> = new Set([
  'protocol',
  'urlnormalizer',
  'urlfilter',
  'urlexemption',
  'schedule',
  'scoring',
  'exporter',
]);
export const WORKER_KINDS: ReadonlySet<PluginKind> = new Set(['parse', 'parsefilter', 'signature']);

/** Methods that an extension of each kind must have; `|`: one of them is enough. */
const METHODS: Readonly<Record<PluginKind, readonly string[]>> = {
  protocol: ['exchange', 'close'],
  urlnormalizer: ['normalize'],
  urlfilter: ['filter'],
  urlexemption: ['exempt'],
  parse: ['parse'],
  parsefilter: ['filter'],
  signature: ['sign'],
  schedule: ['onVisit'],
  scoring: ['seedScore', 'outlinkScore', 'rank'],
  exporter: ['document|open'],
};

const NO_TAGS = Object.freeze({ content: '', print: '' });

const isUrlPlugin = (kind: PluginKind): boolean => kind.startsWith('url');

/** Imports, checks and sets up the plugins of a list, in order. Throws `plugin-broken` or `config-invalid`. */
export async function loadPlugins(options: LoadOptions): Promise<LoadedPlugins> {
  const entries: LoadedPlugin[] = [];
  for (const entry of options.list.entries) {
    const loaded = await loadOne(entry, options);
    if (entries.some((each) => each.name === loaded.name)) {
      throw new CrawlError('plugin-broken', `${entry.where} ${loaded.name}: listed twice`);
    }
    entries.push(loaded);
  }
  shareFeatures(entries);
  return arrange(entries, options.list, options.kinds);
}

async function loadOne(entry: PluginListEntry, options: LoadOptions): Promise<LoadedPlugin> {
  const resolved = resolvePlugin(entry, options.baseDir);
  if (resolved.bundled && Object.keys(entry.options).length === 0) {
    // The name of a bundled plugin is its entry, so its kind is known without importing it.
    const kind = kindOfPlugin(entry.use);
    if (!options.kinds.has(kind)) {
      return { name: entry.use, kind, ...resolved, options: null, ...NO_TAGS, extension: null };
    }
  }
  const definition = await importPlugin(resolved, entry);
  const kind = kindOfPlugin(definition.name);
  const base = { name: definition.name, kind, file: resolved.file, bundled: resolved.bundled };
  const given = checkedOptions(entry, definition);
  if (!options.kinds.has(kind)) return { ...base, options: given, ...NO_TAGS, extension: null };
  try {
    const { host, filesDigest } = hostFor(definition.name, options);
    const extension = await definition.setup(host, given as never);
    const missing = METHODS[kind].filter(
      (names) =>
        !names.split('|').some((name) => typeof (extension as unknown as Record<string, unknown>)[name] === 'function'),
    );
    if (missing.length > 0)
      throw new TypeError(
        `setup must return ${missing.map((names) => `${names.replace('|', '() or ')}()`).join(', ')}`,
      );
    const content = isContentSource(kind, extension)
      ? contentTag(extension, shortName(definition.name), given, defaultsOf(definition))
      : '';
    return {
      ...base,
      options: given,
      content,
      print: isUrlPlugin(kind) ? pluginPrint({ ...base, options: entry.options, filesDigest: filesDigest() }) : '',
      extension: base.bundled ? extension : checkedExtension(kind, base.name, extension),
    };
  } catch (error) {
    throw new CrawlError(
      'plugin-broken',
      `${entry.where} ${definition.name} (${resolved.file}): setup failed: ${textOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** The default options of a bundled plugin. */
export async function shippedOptions(use: string): Promise<Readonly<Record<string, unknown>>> {
  const entry = { use, options: {}, where: use };
  return checkedOptions(entry, await importPlugin(resolvePlugin(entry, '.'), entry));
}

/** Options when none are given; empty where some are required. */
function defaultsOf({ options }: PluginDefinition): Readonly<Record<string, unknown>> {
  const found = options?.safeParse({});
  return found?.success ? (found.data as Record<string, unknown>) : {};
}

/** `simhash` for `signature-simhash`. */
const shortName = (name: string): string => name.slice(name.indexOf('-') + 1);

const isContentSource = (kind: PluginKind, _extension: unknown): _extension is ContentSource =>
  kind === 'parse' || kind === 'parsefilter';

function checkedOptions(
  { options: given, where }: PluginListEntry,
  { name, options: schema }: Pick<PluginDefinition, 'name' | 'options'>,
): Readonly<Record<string, unknown>> {
  if (schema === undefined) {
    const [key] = Object.keys(given);
    if (key === undefined) return Object.freeze({});
    throw new CrawlError('config-invalid', `${where} ${name}.${key}: this plugin has no options`);
  }
  const read = readBy(schema, given, `${where} ${name}`);
  if ('options' in read) return deepFreeze(read.options);
  const lines = read.faults.map(({ path, message }) => `${where} ${[name, ...path].join('.')}: ${message}`);
  throw new CrawlError('config-invalid', lines.join('\n'));
}

function readBy(schema: unknown, given: PluginListEntry['options'], plugin: string) {
  try {
    return readOptions<Readonly<Record<string, unknown>>>(schema, given);
  } catch (cause) {
    throw new CrawlError('plugin-broken', `${plugin}: invalid schema of options: ${textOf(cause)}`, { cause });
  }
}

function arrange(
  entries: readonly LoadedPlugin[],
  { winners, scopes = {} }: PluginList,
  kinds: LoadOptions['kinds'],
): LoadedPlugins {
  const of = <Kind extends PluginKind>(
    kind: Kind,
  ): { name: string; extension: ExtensionByKind[Kind]; content: string }[] =>
    entries.flatMap((entry) =>
      entry.kind === kind && entry.extension !== null
        ? [{ name: entry.name, extension: entry.extension as ExtensionByKind[Kind], content: entry.content }]
        : [],
    );
  const parseFilters = of('parsefilter');
  const parsers = claims(
    of('parse').flatMap(({ name, extension, content }) => {
      const tags = [content, ...parseFilters.map((filter) => filter.content)].filter((tag) => tag !== '').join('.');
      return extension.types.map((key) => ({ key, name, extension, content: tags }));
    }),
    winners,
    'MIME type',
  );
  const scorings = of('scoring');
  if (scorings.length > 1) {
    throw new CrawlError(
      'plugin-broken',
      `only one scoring plugin can be loaded: ${scorings.map((each) => each.name).join(', ')}`,
    );
  }
  return {
    entries,
    protocols: new Map(
      [
        ...claims(
          of('protocol').flatMap(({ name, extension }) => extension.schemes.map((key) => ({ key, name, extension }))),
          winners,
          'scheme',
        ),
      ].map(([scheme, claim]) => [scheme, claim.extension]),
    ),
    normalizers: of('urlnormalizer'),
    filters: of('urlfilter'),
    scopes: kinds.has('urlnormalizer') ? scopedNormalizers(of('urlnormalizer'), scopes) : new Map(),
    exemptions: of('urlexemption'),
    parserFor: (contentType) => {
      const family = `${contentType.slice(0, contentType.indexOf('/'))}/*`;
      const xml = contentType.endsWith('+xml') ? parsers.get('application/xml') : undefined;
      return parsers.get(contentType) ?? xml ?? parsers.get(family) ?? parsers.get('*/*');
    },
    hasDocumentParser: [...parsers.values()].some(({ extension }) => extension.maxMemory !== undefined),
    parseFilters,
    signatures: new Map(of('signature').map(({ name, extension }) => [shortName(name), extension])),
    schedules: new Map(of('schedule').map(({ name, extension }) => [shortName(name), extension])),
    scoring: scorings[0]?.extension ?? null,
    exporters: new Map(
      [
        ...claims(
          of('exporter').map(({ name, extension }) => ({ key: extension.format, name, extension })),
          winners,
          'format',
        ),
      ].map(([format, claim]) => [format, claim.extension]),
    ),
  };
}

/** One plugin per key; a second one is an error unless the configuration names the winner. */
function claims<Claim extends { readonly key: string; readonly name: string }>(
  all: readonly Claim[],
  winners: Readonly<Record<string, string>>,
  what: string,
): Map<string, Claim> {
  const result = new Map<string, Claim>();
  for (const claim of all) {
    const { key, name } = claim;
    const rival = result.get(key);
    if (rival === undefined || winners[key] === name) result.set(key, claim);
    else if (winners[key] !== rival.name) {
      throw new CrawlError(
        'plugin-broken',
        `${rival.name} and ${name} both claim the ${what} ${key}: name one under winners: in plugins.yaml`,
      );
    }
  }
  return result;
}
