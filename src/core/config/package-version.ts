import { createRequire } from 'node:module';

/** Version of this package, read from its own package.json wherever it is installed. */
export function packageVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('incrawl/package.json');
  const version = (manifest as { readonly version?: unknown }).version;
  return typeof version === 'string' ? version : '0';
}
