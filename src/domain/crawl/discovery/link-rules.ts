/** Rules by which the links of the stored pages were judged. */
export interface LinkRules {
  /** Fingerprint of the rules. */
  readonly print: string;
  /** Depth limit of new URLs: Infinity for none, 0 where no new URLs are admitted. */
  readonly layers: number;
}

/**
 * Whether other rules may admit links that were refused. A changed fingerprint may mean either direction, so it counts.
 */
export const mayLetInMore = (known: LinkRules, rules: LinkRules): boolean =>
  rules.print !== known.print || rules.layers > known.layers;

/** The rules that hold for all stored pages once some are judged by these rules: the smaller depth limit. */
export const narrowed = (known: LinkRules, rules: LinkRules): LinkRules =>
  rules.layers < known.layers ? { ...known, layers: rules.layers } : known;

export function encodeLinkRules({ print, layers }: LinkRules): string {
  return JSON.stringify({ print, layers: Number.isFinite(layers) ? layers : null });
}

/** `null` where none are stored, or the text is invalid. */
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
