import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const conf = (name: string): string => fileURLToPath(new URL(`../../conf/${name}`, import.meta.url));

/** The shipped list of plugins, for a list in any folder: its URL rules are named by their full path. */
export const SHIPPED_PLUGINS: string = readFileSync(conf('plugins.yaml'), 'utf8').replace(
  '{ file: url-rules.txt }',
  `{ file: ${JSON.stringify(conf('url-rules.txt'))} }`,
);
