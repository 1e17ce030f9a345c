import { TagTable } from 'incrawl/bundled';

/** Treatment of an element during the walk, as a bit set. */
export const BLOCK = 1;
/** Separates words before, inside and after, on the same line. */
export const APART = 2;
/** Text inside is not shown; links count. */
export const MUTED = 4;
/** Text inside is shown where scripts do not run. */
export const CONCEALED = 8;
/** Its content is no part of the page. */
export const OPAQUE = 16;
/** Has a handler of its own. */
export const SPECIAL = 32;

const NAMES: readonly (readonly [number, string])[] = [
  [
    BLOCK,
    'address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup p pre search section summary table tbody tfoot thead title tr ul',
  ],
  [APART, 'area button img input label option output select td textarea th video audio canvas object iframe'],
  [MUTED, 'iframe noembed object audio video canvas select datalist textarea svg rp'],
  [CONCEALED, 'noscript noframes'],
  [OPAQUE, 'script style template title'],
  [SPECIAL, 'a area base frame h1 html iframe img link meta script title'],
];

export const ROLES = new TagTable(
  NAMES.reduce((roles, [role, names]) => {
    for (const name of names.split(' ')) roles.set(name, (roles.get(name) ?? 0) | role);
    return roles;
  }, new Map<string, number>()),
);
