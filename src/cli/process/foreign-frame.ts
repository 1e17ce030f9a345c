import { readFileSync } from 'node:fs';

/**
 * The first place of a stack that is neither ours nor Node's nor in a package that we stand on: where a plugin, or a
 * package of its own, was at work.
 * @param folder of this package, ending in a slash
 */
export function foreignFrame(stack: string, folder: string): string | null {
  // Installed by npm, packages lie beside this one, plugins among them; in a clone they lie below it.
  const beside = folder.replace(/[^/]+\/$/, '');
  const shelves = [`${folder}node_modules/`, ...(beside.endsWith('/node_modules/') ? [beside] : [])];
  const ours = packagesOf(folder, shelves);
  const isOurs = (place: string): boolean =>
    place.startsWith(`${folder}dist/`) ||
    shelves.some((shelf) => place.startsWith(shelf) && ours.has(packageAt(place.slice(shelf.length))));
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

/** What a package depends on, and what that depends on. */
function packagesOf(folder: string, shelves: readonly string[]): Set<string> {
  const found = new Set<string>();
  const toRead = [folder];
  for (const each of toRead) {
    for (const name of dependenciesIn(each)) {
      if (found.has(name)) continue;
      found.add(name);
      toRead.push(...shelves.map((shelf) => `${shelf}${name}/`));
    }
  }
  return found;
}

function dependenciesIn(folder: string): string[] {
  try {
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
    return Object.keys({ ...dependencies, ...optionalDependencies });
  } catch {
    // An optional one that is not installed, or one that lies on the other shelf.
    return [];
  }
}
