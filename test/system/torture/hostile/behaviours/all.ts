import type { Behaviour } from './behaviour.ts';
import { BODIES } from './bodies.ts';
import { CONNECTIONS } from './connections.ts';
import { FIELDS } from './fields.ts';
import { HEADS } from './heads.ts';
import { PAGES } from './pages.ts';
import { REDIRECTS } from './redirects.ts';
import { ROBOTS } from './robots.ts';
import { STATUS_LINES } from './status-lines.ts';
import { STATUSES } from './statuses.ts';

export const BEHAVIOURS: readonly Behaviour[] = [
  ...CONNECTIONS,
  ...STATUS_LINES,
  ...HEADS,
  ...BODIES,
  ...REDIRECTS,
  ...ROBOTS,
  ...STATUSES,
  ...FIELDS,
  ...PAGES,
];
