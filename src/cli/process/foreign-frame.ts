// cli/process/: the process itself: V8 settings, signals, the version of Node.

import { readFileSync } from 'node:fs';

/**
 * The first place of a stack outside this package, its dependencies and Node: the code of a plugin, or of a package
 * that the plugin uses.
 * @param folder of this package, ending in a slash
 */
export function foreignFrame(stack: string, folder: string): string | null {
  // Packages installed by npm, plugins among them, are beside this one; in a clone they are below it.
  const beside = folder.replace(/[^/]+\/$/, '');
  const roots = [`${folder}node_modules/`, ...(beside.endsWith('/node_modules/') ? [beside] : [])];
  const ours = packagesOf(folder, roots);
  const isOurs = (place: string): boolean =>
    place.startsWith(`${folder}dist/`) ||
    roots.some((root) => place.startsWith(root) && ours.has(packageAt(place.slice(root.length))));
  for (const line of stack.split('\n')) {
    // Node's own places are no paths: `node:internal/fs/promises:637:25`.
    const place = /^\s+at (?:async |.*\()?((?:file:\/\/)?\/[^()]+:\d+:\d+)\)?$/
      .exec(line)?.[1]
      ?.replace(/^file:\/\//, '');
    if (place !== undefined && !isOurs(place)) return place;
  }
  return null;
}

/** `got` of `got/dist/index.js`, `@hono/node-server` of `@hono/node-server/x.js`. */
const packageAt = (path: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? '';

/** Names of all dependencies of a package, indirect ones included. */
function packagesOf(folder: string, roots: readonly string[]): Set<string> {
  const found = new Set<string>();
  const toRead = [folder];
  for (const each of toRead) {
    for (const name of dependenciesIn(each)) {
      if (found.has(name)) continue;
      found.add(name);
      toRead.push(...roots.map((root) => `${root}${name}/`));
    }
  }
  return found;
}

function dependenciesIn(folder: string): string[] {
  try {
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
    return Object.keys({ ...dependencies, ...optionalDependencies });
  } catch {
    // An optional dependency that is not installed, or one in the other folder.
    return [];
  }
}
