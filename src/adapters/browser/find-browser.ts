import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';

/** Commands of Chromium and its like, in the order in which they are looked for. */
const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
] as const;

/** Where installers put it outside of the path. */
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
] as const;

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * The program of the browser. Throws `config-invalid` where there is none.
 * @param named `render.browser`; empty: it is looked for
 * @param path the variable PATH
 */
export function findBrowser(named: string, path: string): string {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const inPath = (name: string): string | undefined => folders.map((folder) => join(folder, name)).find(isExecutable);
  if (named !== '') {
    const found = isAbsolute(named) ? (isExecutable(named) ? named : undefined) : inPath(named);
    if (found !== undefined) return found;
    throw new CrawlError('config-invalid', `render.browser: ${named} is not a program that can be started`);
  }
  for (const name of NAMES) {
    const found = inPath(name);
    if (found !== undefined) return found;
  }
  const installed = PLACES.find(isExecutable);
  if (installed !== undefined) return installed;
  throw new CrawlError(
    'config-invalid',
    `render: no browser was found (looked for ${NAMES.join(', ')}). Install one, such as the Debian package chromium, ` +
      'or name its program in render.browser',
  );
}
