export interface RobotsDirectives {
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

/** Directives with a value after a colon, which is no agent's name. */
const WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);
const NAMED = /^\s*([\w-]+)\s*:(.*)$/s;

/**
 * What the contents of robots `meta` elements and the `X-Robots-Tag` header forbid, taken together. `none` is both. A
 * name before a colon in the header limits what follows it in its line to that agent; of those, only `agent` counts.
 *
 * @param header lines of the field, one a line
 * @param agent our own name, lower case
 */
export function robotsDirectives(
  metas: readonly string[],
  header: string | undefined,
  agent: string,
): RobotsDirectives {
  const tokens = new Set(metas.flatMap((content) => content.toLowerCase().split(/[\s,;]+/)));
  for (const line of (header ?? '').toLowerCase().split('\n')) {
    let applies = true;
    for (const part of line.split(',')) {
      const named = NAMED.exec(part);
      const isAgent = named !== null && !WITH_VALUE.has(named[1]!);
      if (isAgent) applies = named[1] === agent;
      if (applies) tokens.add((isAgent ? named[2]! : part).trim());
    }
  }
  const none = tokens.has('none');
  return { noindex: none || tokens.has('noindex'), nofollow: none || tokens.has('nofollow') };
}
