import { createHash } from 'node:crypto';
import { DAY_MS } from '../core/domain/time.ts';

/** A small vocabulary and a seeded generator: the same seed gives the same site. */
const WORDS =
  'river stone garden winter market letter bridge morning copper field window harvest island signal mountain paper coffee silver harbour journey lantern meadow orchard pocket quarry ribbon saddle timber valley willow anchor basket candle desert engine feather glacier hammer insect jungle kettle ladder magnet needle ocean pepper rocket shadow tunnel velvet'.split(
    ' ',
  );

/** Uniform in [0, 1); mulberry32, good enough for text. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function sentence(random: () => number): string {
  const words = Array.from({ length: 8 + Math.floor(random() * 8) }, () => WORDS[Math.floor(random() * WORDS.length)]);
  const text = words.join(' ');
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}

const paragraph = (random: () => number): string => Array.from({ length: 6 }, () => sentence(random)).join(' ');

/** How a page of the demo site changes. */
interface PageLife {
  readonly path: string;
  readonly title: string;
  /** For people. */
  readonly story: string;
  /** Days between two versions of the article; infinite: it never changes. */
  readonly everyDays: number;
  /** The part that a new version replaces. */
  readonly change: 'none' | 'sentence' | 'article' | 'sidebar';
  /** Validators in the response headers. */
  readonly headers: 'etag' | 'date and length' | 'date, no 304' | 'nothing';
  readonly goneFromDay?: number;
  readonly movesOnDay?: number;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const NEVER = Number.POSITIVE_INFINITY;

/** The pages of one host, index first. */
export const LIVES: readonly PageLife[] = [
  { path: '/', title: 'Front page', story: 'never changes', everyDays: NEVER, change: 'none', headers: 'etag' },
  { path: '/history', title: 'History', story: 'never changes', everyDays: NEVER, change: 'none', headers: 'etag' },
  {
    path: '/imprint',
    title: 'Imprint',
    story: 'never changes',
    everyDays: NEVER,
    change: 'none',
    headers: 'date, no 304',
  },
  {
    path: '/manual',
    title: 'Manual',
    story: 'never changes',
    everyDays: NEVER,
    change: 'none',
    headers: 'date, no 304',
  },
  { path: '/licence', title: 'Licence', story: 'never changes', everyDays: NEVER, change: 'none', headers: 'nothing' },
  {
    path: '/people',
    title: 'People',
    story: 'a sentence every 5 days',
    everyDays: 5,
    change: 'sentence',
    headers: 'etag',
  },
  {
    path: '/prices',
    title: 'Prices',
    story: 'a sentence every 3 days',
    everyDays: 3,
    change: 'sentence',
    headers: 'date and length',
  },
  {
    path: '/news',
    title: 'News',
    story: 'a new article every 2 days',
    everyDays: 2,
    change: 'article',
    headers: 'date and length',
  },
  {
    path: '/today',
    title: 'Today',
    story: 'a new article every day',
    everyDays: 1,
    change: 'article',
    headers: 'nothing',
  },
  {
    path: '/weather',
    title: 'Weather',
    story: 'only the date in its sidebar changes',
    everyDays: 1,
    change: 'sidebar',
    headers: 'nothing',
  },
  {
    path: '/offer',
    title: 'Offer',
    story: 'vanishes on day 5',
    everyDays: NEVER,
    change: 'none',
    headers: 'etag',
    goneFromDay: 5,
  },
  {
    path: '/shop',
    title: 'Shop',
    story: 'moves on day 3',
    everyDays: NEVER,
    change: 'none',
    headers: 'date and length',
    movesOnDay: 3,
  },
];

const MOVED_TO = '/store';

const ROBOTS = 'User-agent: *\nDisallow: /private/\n';

/** One host of the site. Its answers are a pure function of seed, path and time. */
export class DemoSite {
  private readonly seed: number;
  private readonly startedAt: number;

  constructor(seed: number, startedAt: number) {
    this.seed = seed;
    this.startedAt = startedAt;
  }

  /** The answer to a GET at a time, ms since the epoch. Request header names are lower case. */
  answer(path: string, requestHeaders: Readonly<Record<string, string | string[] | undefined>>, now: number): Answer {
    if (path === '/robots.txt') return { status: 200, headers: { 'content-type': 'text/plain' }, body: ROBOTS };
    const day = (now - this.startedAt) / DAY_MS;
    const life =
      path === MOVED_TO
        ? LIVES.find((each) => each.movesOnDay !== undefined && day >= each.movesOnDay)
        : LIVES.find((each) => each.path === path);
    if (life === undefined || (life.goneFromDay !== undefined && day >= life.goneFromDay)) return notFound();
    if (life.movesOnDay !== undefined && path !== MOVED_TO && day >= life.movesOnDay) {
      return { status: 301, headers: { location: MOVED_TO, 'content-length': '0' }, body: '' };
    }
    const body = this.html(life, day);
    const versionAt =
      this.startedAt + (life.everyDays === NEVER ? 0 : this.version(life, day) * life.everyDays * DAY_MS);
    return conditional(life, body, new Date(versionAt), requestHeaders);
  }

  /** Total body bytes of all pages at a time: the transfer of a full fetch. */
  bytesOfAll(now: number): number {
    return [...LIVES.map((life) => life.path), MOVED_TO].reduce(
      (sum, path) => sum + Buffer.byteLength(this.answer(path, {}, now).body),
      0,
    );
  }

  private version(life: PageLife, day: number): number {
    return life.everyDays === NEVER ? 0 : Math.max(0, Math.floor(day / life.everyDays));
  }

  private html(life: PageLife, day: number): string {
    const version = this.version(life, day);
    const base = this.seed * 1_000 + LIVES.indexOf(life);
    const articleSeed = life.change === 'article' ? base + version * 7_919 : base;
    const random = seededRandom(articleSeed);
    const paragraphs = Array.from({ length: 12 }, () => paragraph(random));
    if (life.change === 'sentence')
      paragraphs[5] = `${sentence(seededRandom(base + version * 104_729))} ${paragraphs[5]}`;
    const further = LIVES[(LIVES.indexOf(life) + 1) % LIVES.length]!;
    paragraphs[2] = `${paragraphs[2]} More on this is in <a href="${further.path}">${further.title}</a>, for those who have time.`;
    const sidebar = life.change === 'sidebar' ? `Day ${version}` : 'Every day';
    const nav = LIVES.map((each) => `<li><a href="${each.path}">${each.title}</a></li>`).join('');
    return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${life.title} of the demo site</title></head>
<body><nav><ul>${nav}<li><a href="/private/door">Private</a></li></ul></nav>
<aside><h2>Calendar</h2><p>${sidebar}</p></aside>
<main><article><h1>${life.title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}</article></main>
<footer><p>A site that lives on this machine only. <a href="${LIVES[0]!.path}">${LIVES[0]!.title}</a> | <a href="${LIVES[1]!.path}">${LIVES[1]!.title}</a></p></footer></body></html>
`;
  }
}

const notFound = (): Answer => ({ status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not found\n' });

function conditional(
  life: PageLife,
  body: string,
  versionAt: Date,
  requestHeaders: Readonly<Record<string, string | string[] | undefined>>,
): Answer {
  const headers: Record<string, string> = {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  };
  const lastModified = versionAt.toUTCString();
  if (life.headers === 'etag') {
    headers.etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
    if (requestHeaders['if-none-match'] === headers.etag)
      return { status: 304, headers: { etag: headers.etag }, body: '' };
  } else if (life.headers !== 'nothing') {
    headers['last-modified'] = lastModified;
    if (life.headers === 'date and length' && requestHeaders['if-modified-since'] === lastModified) {
      return { status: 304, headers: { 'last-modified': lastModified }, body: '' };
    }
  }
  return { status: 200, headers, body };
}
