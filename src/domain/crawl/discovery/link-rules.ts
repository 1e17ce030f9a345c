/** By which rules the links of the stored pages were judged. */
export interface LinkRules {
  /** Differs when the rules do. */
  readonly print: string;
  /** Layers of the crawl from which URLs enter: Infinity for all, 0 where no new URLs enter at all. */
  readonly layers: number;
}

/**
 * Whether links that were kept out by the rules so far may be let in by others. Which way a print moves cannot be told.
 */
export const mayLetInMore = (known: LinkRules, rules: LinkRules): boolean =>
  rules.print !== known.print || rules.layers > known.layers;

/**
 * What holds for all stored pages once some are judged by these rules and the others were by those known: the narrower
 * limit.
 */
export const narrowed = (known: LinkRules, rules: LinkRules): LinkRules =>
  rules.layers < known.layers ? { ...known, layers: rules.layers } : known;

export function encodeLinkRules({ print, layers }: LinkRules): string {
  return JSON.stringify({ print, layers: Number.isFinite(layers) ? layers : null });
}

/** `null` where none were noted, or what was noted is none. */
export function decodeLinkRules(text: string | undefined): LinkRules | null {
  if (text === undefined) return null;
  try {
    const { print, layers } = JSON.parse(text) as { print?: unknown; layers?: unknown };
    const isSound = typeof print === 'string' && (layers === null || typeof layers === 'number');
    return isSound ? { print, layers: (layers as number | null) ?? Number.POSITIVE_INFINITY } : null;
  } catch {
    return null;
  }
}
