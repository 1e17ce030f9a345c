/** The oldest Node that runs the program: `engines` of package.json. */
export const OLDEST_NODE = '20.18.1';

/** One line for a Node that is too old; `null` for any other. */
export function nodeVersionFault(version: string): string | null {
  const [found, needed] = [partsOf(version), partsOf(OLDEST_NODE)];
  const at = needed.findIndex((part, i) => part !== found[i]);
  if (at < 0 || (found[at] ?? 0) > (needed[at] ?? 0)) return null;
  return `incrawl needs Node >= ${OLDEST_NODE}, this is ${version}`;
}

const partsOf = (version: string): number[] => version.split(/[.-]/).slice(0, 3).map(Number);
