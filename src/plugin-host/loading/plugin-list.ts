import type { UrlScope } from '../../domain/url/canonical/url-scope.ts';

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
