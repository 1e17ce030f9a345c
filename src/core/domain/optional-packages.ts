/** A package that only some users need: the program is built, and runs, without it. */
export interface OptionalPackage {
  /** Its name in `incrawl packages install`, and of its folder in `optional-packages`, which pins its version. */
  readonly id: OptionalPackageId;
  /** Its name in the registry of npm. */
  readonly name: string;
  /** The oldest version that works; later ones of the same major version do as well. */
  readonly since: string;
  readonly purpose: string;
  /**
   * For a package of ES modules: one of them, by its path in the package, that loads wherever the package works. Who
   * needs the package imports its modules from its folder.
   */
  readonly module?: string;
  /** Its own optional dependencies are of no use here, and large. */
  readonly isBare?: true;
}

export type OptionalPackageId = 'duckdb' | 'sqlite' | 'jieba' | 'ioredis' | 'pg' | 'pdfjs' | 'playwright' | 'kafka';

export const OPTIONAL_PACKAGES: readonly OptionalPackage[] = [
  { id: 'duckdb', name: '@duckdb/node-api', since: '1.5.0', purpose: 'export --format parquet' },
  {
    id: 'sqlite',
    name: 'node-sqlite3-wasm',
    since: '0.8.50',
    purpose: 'export --format sqlite before Node 22.13',
  },
  { id: 'jieba', name: '@node-rs/jieba', since: '2.0.1', purpose: 'segmenter: jieba' },
  { id: 'ioredis', name: 'ioredis', since: '5.4.0', purpose: 'seen.filter: redis' },
  { id: 'pg', name: 'pg', since: '8.16.0', purpose: 'cluster.store: postgres://..' },
  {
    id: 'pdfjs',
    name: 'pdfjs-dist',
    since: '5.4.296',
    purpose: 'parse-pdf',
    module: 'legacy/build/pdf.worker.mjs',
    isBare: true,
  },
  { id: 'playwright', name: 'playwright-core', since: '1.60.0', purpose: 'render' },
  { id: 'kafka', name: 'kafkajs', since: '2.2.4', purpose: 'export --format kafka' },
];

export function optionalPackage(id: OptionalPackageId): OptionalPackage {
  return OPTIONAL_PACKAGES.find((each) => each.id === id) as OptionalPackage;
}

/**
 * Whether a version has the same major version as `since` and is not older. What follows a hyphen is not compared: all
 * releases of DuckDB have such a suffix, which ranges of npm take for a mark of unfinished versions.
 */
export function fits(version: string, since: string): boolean {
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  const [sinceMajor = 0, sinceMinor = 0, sincePatch = 0] = numbersOf(since);
  return major === sinceMajor && (minor > sinceMinor || (minor === sinceMinor && patch >= sincePatch));
}

const numbersOf = (version: string): number[] => (version.split(/[-+]/)[0] ?? '').split('.').map(Number);
