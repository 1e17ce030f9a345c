export interface RobotsDirectives {
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

/** Directives with a value after a colon; the name before it is not an agent. */
const WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);
const NAMED = /^\s*([\w-]+)\s*:(.*)/s;

/**
 * Directives of the robots `meta` elements and the `X-Robots-Tag` header, combined. `none` means both. In the header,
 * the name of an agent before a colon limits the rest of its line to that agent; of the named agents, only `agent`
 * counts.
 *
 * @param header one field per line
 * @param agent name of our agent, lower case
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
