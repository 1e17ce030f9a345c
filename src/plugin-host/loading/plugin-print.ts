import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { optionsJson } from './options-json.ts';

/** What a plugin's answers follow from, as far as that can be known from outside. */
export interface PluginSource {
  readonly name: string;
  readonly file: string;
  readonly bundled: boolean;
  /** As the plugin list gives them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Digest of the files that it has read by `readTextFile` while it was set up. */
  readonly filesDigest: string;
}

/**
 * Another one when the plugin's options, the files that it reads, or its own file have changed. What a bundled plugin
 * does changes with the version of incrawl alone, which does not count: else each update would look as if all rules had
 * changed. 16 hex digits.
 */
export function pluginPrint({ name, file, bundled, options, filesDigest }: PluginSource): string {
  const code = bundled ? '' : readFileSync(file, 'utf8');
  return createHash('sha256')
    .update(JSON.stringify([name, optionsJson(options), filesDigest, code]))
    .digest('hex')
    .slice(0, 16);
}
