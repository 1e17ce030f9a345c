import { type Document, isMap, isScalar, isSeq, type YAMLMap } from 'yaml';
import { givenTwice, nameOf, readYamlDocument } from '../../config/yaml-settings.ts';
import { closestName } from '../../domain/closest-name.ts';
import { CrawlError } from '../../domain/errors.ts';
import { URL_SCOPES, type UrlScope } from '../../domain/url/canonical/url-key.ts';

const KEYS = ['plugins', 'winners', 'scopes'];

/**
 * Reads `plugins.yaml`. A key that is begun again goes on: see {@link withEntry} for plugins. Throws `config-invalid`
 * with file, line and column of every fault.
 */
export function parsePluginList(text: string, file: string): PluginList {
  const { document, at, errors: faults } = readYamlDocument(text, file);
  if (faults.length > 0) throw new CrawlError('config-invalid', faults.join('\n'));
  const root = document.contents;
  const errors: string[] = [];
  let entries: readonly PluginListEntry[] = [];
  const winners: Record<string, string> = {};
  let scopes: NonNullable<PluginList['scopes']> | undefined;
  if (root !== null && !isMap(root)) errors.push(`${at(root)} expected the keys plugins, winners and scopes`);
  for (const pair of isMap(root) ? root.items : []) {
    const { key, value } = pair;
    const name = nameOf(pair);
    if (name === 'plugins' && isSeq(value)) {
      const before = entries;
      for (const [i, item] of value.items.entries()) {
        const entry = entryOf(item, at(item), document);
        if (typeof entry === 'string') errors.push(`${at(item)} plugins[${i}]: ${entry}`);
        else entries = withEntry(entries, before, entry, errors);
      }
    } else if (name === 'winners' && (isMap(value) || (isScalar(value) && value.value === null))) {
      for (const [type, plugin] of Object.entries(isMap(value) ? value.toJSON() : {})) winners[type] = String(plugin);
    } else if (name === 'scopes') {
      const read = scopesOf(value);
      if (typeof read === 'string') errors.push(`${at(value)} scopes: ${read}`);
      else scopes = { ...scopes, ...read };
    } else {
      const guess = closestName(name, KEYS);
      errors.push(
        name === 'plugins' || name === 'winners'
          ? `${at(value)} ${name}: expected a ${name === 'plugins' ? 'list' : 'map of MIME type to plugin name'}`
          : `${at(key)} ${name}: unknown key${guess === undefined ? '' : `, did you mean ${guess}?`}`,
      );
    }
  }
  if (isMap(root)) errors.push(...repeatedBelow(root, ['winners', 'scopes'], at));
  if (errors.length > 0) throw new CrawlError('config-invalid', errors.join('\n'));
  return { entries, winners, ...(scopes !== undefined && { scopes }) };
}

/**
 * Entries with one more. A plugin that a list `before` has named keeps its place there, and takes the options: the
 * order of plugins counts, and a pasted line with options is meant for that plugin.
 */
function withEntry(
  entries: readonly PluginListEntry[],
  before: readonly PluginListEntry[],
  entry: PluginListEntry,
  errors: string[],
): readonly PluginListEntry[] {
  const at = before.findIndex(({ use }) => use === entry.use);
  const earlier = entries[at];
  if (earlier === undefined) return [...entries, entry];
  const hasOptions = (each: PluginListEntry): boolean => Object.keys(each.options).length > 0;
  if (hasOptions(earlier) && hasOptions(entry)) {
    errors.push(givenTwice(`options of ${entry.use}`, earlier.where, entry.where));
  }
  return hasOptions(entry) ? entries.with(at, entry) : entries;
}

/** Messages about keys of sections that are given again where their section is begun again. */
function repeatedBelow(root: YAMLMap, sections: readonly string[], at: (node: unknown) => string): string[] {
  const first = new Map<string, unknown>();
  const pairs = root.items.flatMap((section) => {
    const { value } = section;
    const isWanted = sections.includes(nameOf(section)) && isMap(value);
    return isWanted ? value.items.map((pair) => ({ name: `${nameOf(section)}.${nameOf(pair)}`, key: pair.key })) : [];
  });
  return pairs.flatMap(({ name, key }) => {
    const earlier = first.get(name);
    if (earlier !== undefined) return [givenTwice(name, at(earlier), at(key))];
    first.set(name, key);
    return [];
  });
}

function scopesOf(value: unknown): NonNullable<PluginList['scopes']> | string {
  if (isScalar(value) && value.value === null) return {};
  const wanted = `expected a map of scopes (${URL_SCOPES.join(', ')}) to lists of URL normalizers`;
  if (!isMap(value)) return wanted;
  const read: Record<string, unknown> = value.toJSON();
  for (const [scope, names] of Object.entries(read)) {
    if (!URL_SCOPES.some((each) => each === scope)) return `unknown scope ${scope}; ${wanted}`;
    const isList = Array.isArray(names) && names.every((name) => typeof name === 'string');
    if (!isList) return `${scope}: expected a list of URL normalizers, [] for none`;
  }
  return read as NonNullable<PluginList['scopes']>;
}

function entryOf(item: unknown, where: string, document: Document.Parsed): PluginListEntry | string {
  if (isScalar(item) && typeof item.value === 'string') return { use: item.value, options: {}, where };
  if (!isMap(item)) return 'expected a plugin name, a name with options, or use: with a path';
  let value: Record<string, unknown>;
  try {
    value = item.toJS(document) as Record<string, unknown>;
  } catch (error) {
    // An alias without its anchor: mostly a pattern such as *.example.org, for which YAML wants quotes.
    return `${(error as Error).message}; text that begins with "*" needs quotes`;
  }
  const keys = Object.keys(value);
  const isOptions = (options: unknown): options is Record<string, unknown> =>
    typeof options === 'object' && options !== null && !Array.isArray(options);
  if (typeof value.use === 'string') {
    const extra = keys.find((key) => key !== 'use' && key !== 'options');
    if (extra !== undefined) return `unknown key ${extra} beside use; options belong under options:`;
    const options = value.options ?? {};
    return isOptions(options) ? { use: value.use, options, where } : 'options: expected a map';
  }
  const [name] = keys;
  if (keys.length !== 1 || name === undefined) return 'expected one plugin name with its options below it';
  const options = value[name] ?? {};
  return isOptions(options) ? { use: name, options, where } : `${name}: expected a map of options`;
}

export interface PluginListEntry {
  /** A bundled name, a path (`./plugins/parse-mine`), or a package name. */
  readonly use: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Position as `file:line:column`, for messages. */
  readonly where: string;
}

export interface PluginList {
  readonly entries: readonly PluginListEntry[];
  /** Plugin by MIME type, scheme or format that two plugins claim. */
  readonly winners: Readonly<Record<string, string>>;
  /**
   * Names of URL normalisers by the scope that they run in, in order; a scope that is not named has the default ones.
   */
  readonly scopes?: Readonly<Partial<Record<UrlScope, readonly string[]>>>;
}

const BUNDLED = [
  'protocol-http',
  'urlnormalizer-basic',
  'urlfilter-rules',
  'urlfilter-scope',
  'urlfilter-traps',
  'urlfilter-similarity',
  'parse-html',
  'parse-feed',
  'parse-text',
  'parsefilter-main-content',
  'parsefilter-noise-links',
  'parsefilter-part',
  'signature-simhash',
  'signature-simhash-js',
  'signature-digest',
  'signature-text-profile',
  'schedule-freshness',
  'schedule-similarity',
  'schedule-adaptive',
  'schedule-fixed',
  'scoring-depth',
  'exporter-jsonl',
] as const;

/** Loaded when their format is requested; listed in `plugins.yaml` only for options. */
export const BUNDLED_EXPORTERS: readonly string[] = [
  'exporter-csv',
  'exporter-kafka',
  'exporter-markdown',
  'exporter-opensearch',
  'exporter-parquet',
  'exporter-solr',
  'exporter-sqlite',
  'exporter-tree',
  'exporter-warc',
  'exporter-wacz',
  'exporter-webhook',
];

/** All bundled plugins. Those of the first list are loaded by default, the others when `plugins.yaml` lists them. */
export const BUNDLED_PLUGINS: readonly string[] = [
  ...BUNDLED,
  ...BUNDLED_EXPORTERS,
  'parse-office',
  'parse-pdf',
  'parsefilter-blocks',
  'parsefilter-selectors',
  'protocol-undici',
  'scoring-links',
];

/** What is loaded when the operator has no list; the shipped `conf/plugins.yaml` says the same. */
export const DEFAULT_PLUGIN_LIST: PluginList = {
  entries: BUNDLED.map((use) => ({ use, options: {}, where: 'shipped list' })),
  winners: {},
};
