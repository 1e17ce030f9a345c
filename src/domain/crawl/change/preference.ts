/**
 * What tells which of several like pages stands for all. `score`: the higher; `https`: rather than http; `shortest`:
 * URL; `oldest`: found first.
 */
export const PREFERENCES = ['score', 'https', 'shortest', 'oldest'] as const;
export type Preference = (typeof PREFERENCES)[number];
