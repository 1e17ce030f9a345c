import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { optionsJson } from './options-json.ts';

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
