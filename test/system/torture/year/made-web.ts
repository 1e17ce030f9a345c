import { hashOf, randomOf } from '../random.ts';

const DAY_MS = 86_400_000;

/** Something that happens to a host, from a time on, and up to another; ms since the epoch. */
interface Fate {
  readonly kind: 'outage' | 'broken' | 'closed' | 'moved' | 'redesigned';
  readonly from: number;
  readonly to: number;
}

interface MadePage {
  readonly path: string;
  readonly bornAt: number;
  readonly goneAt: number;
  /** When its text changes, in order. */
  readonly changes: readonly number[];
}

interface MadeHost {
  readonly address: string;
  readonly pages: readonly MadePage[];
  readonly fates: readonly Fate[];
  readonly validator: 'etag' | 'date' | 'none' | 'lying';
}

/** Null: the connection is broken off. */
export type MadeAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
} | null;

interface WebPlan {
  readonly hosts: number;
  readonly days: number;
  readonly from: number;
  readonly seed: number;
}

/**
 * Hosts whose pages change at rates from twice a day to once in three years, are born and go; which are away for days,
 * answer with errors, close themselves by robots.txt, move to another host, or get another template. What is seen at a
 * time follows from the seed.
 */
export class MadeWeb {
  readonly #hosts: ReadonlyMap<string, MadeHost>;
  readonly #port: () => number;

  /** @param port of the server behind all addresses, once it listens */
  constructor(plan: WebPlan, port: () => number) {
    const next = randomOf(plan.seed);
    this.#hosts = new Map(
      Array.from({ length: plan.hosts }, (_, i) => {
        const address = addressOf(i);
        return [address, madeHost(address, plan, next)] as const;
      }),
    );
    this.#port = port;
  }

  get addresses(): readonly string[] {
    return [...this.#hosts.keys()];
  }

  /** `undefined`: no host of this web. */
  answer(
    address: string,
    path: string,
    headers: Readonly<Record<string, unknown>>,
    now: number,
  ): MadeAnswer | undefined {
    const host = this.#hosts.get(address);
    if (host === undefined) return undefined;
    const is = (kind: Fate['kind']): boolean => isUnder(host, kind, now);
    if (is('outage')) return null;
    if (is('broken')) return { status: 503, headers: {}, body: 'out of order' };
    if (path === '/robots.txt') return plain(200, is('closed') ? 'User-agent: *\nDisallow: /\n' : 'User-agent: *\n');
    if (is('moved'))
      return { status: 301, headers: { location: `${this.#origin(this.#heirOf(address))}${path}` }, body: '' };
    const page = path === '/' ? null : host.pages.find((each) => each.path === path);
    if (page === undefined || (page !== null && !isThere(page, now))) return plain(404, 'nothing here');
    const changedAt =
      page === null
        ? lastOf(
            host.pages.map((each) => each.bornAt),
            now,
          )
        : lastOf(page.changes, now);
    const redesign = host.fates.find((each) => each.kind === 'redesigned' && each.from <= now);
    const dated = Math.max(changedAt, redesign?.from ?? 0);
    const validators = validatorsOf(host, dated, now);
    if (isUnchanged(validators, headers)) return { status: 304, headers: validators, body: '' };
    const body = this.#html(host, page, changedAt, redesign !== undefined, now);
    return { status: 200, headers: { ...validators, 'content-type': 'text/html; charset=utf-8' }, body };
  }

  /** URLs of the pages that can be had at a time, with when their text changed last. */
  *pages(now: number): Generator<{ readonly url: string; readonly changedAt: number }> {
    for (const host of this.#hosts.values()) {
      if ((['outage', 'broken', 'closed', 'moved'] as const).some((kind) => isUnder(host, kind, now))) continue;
      for (const page of host.pages) {
        if (isThere(page, now))
          yield { url: this.#origin(host.address) + page.path, changedAt: lastOf(page.changes, now) };
      }
    }
  }

  #origin(address: string): string {
    return `http://${address}:${this.#port()}`;
  }

  #heirOf(address: string): string {
    const all = this.addresses;
    return all[(all.indexOf(address) + 1) % all.length] as string;
  }

  #html(host: MadeHost, page: MadePage | null, changedAt: number, isNew: boolean, now: number): string {
    const pages = host.pages.filter((each) => isThere(each, now));
    const own = pages.map(({ path }) => `<li><a href="${path}">${path.slice(1)}</a></li>`).join('');
    const other = `<a href="${this.#origin(this.#heirOf(host.address))}/">a neighbour</a>`;
    const random = randomOf(hashOf(`${host.address}${page?.path ?? '/'}`));
    const words = wordsOf(random, 140);
    // A change rewrites a fifth of the text, and what it rewrites follows from its time.
    const changed = wordsOf(randomOf(hashOf(`${host.address}${page?.path ?? '/'}${changedAt}`)), 35);
    const frame = isNew ? 'The new house: about, contact, terms, a map, and the news of the week' : 'About us';
    return (
      `<!doctype html><html lang="en"><title>${page?.path ?? 'Start'}</title><header>${frame}</header><nav><ul>${own}</ul></nav>` +
      `<main><h1>${page?.path ?? 'Start'}</h1><p>${words}</p><p>${changed}</p><p>${other}</p></main><footer>${frame}</footer></html>`
    );
  }
}

const FATES = ['outage', 'broken', 'closed', 'moved', 'redesigned'] as const;
const LENGTH_DAYS: Readonly<Record<Fate['kind'], readonly [number, number]>> = {
  outage: [1, 20],
  broken: [1, 10],
  closed: [5, 60],
  moved: [1_000, 1_000],
  redesigned: [0, 0],
};

const addressOf = (i: number): string => `127.10.${i >> 8}.${(i & 255) + 1}`;

function madeHost(address: string, { from, days }: WebPlan, next: () => number): MadeHost {
  const count = 3 + Math.floor(12 * next());
  const grows = next() < 0.5 ? 6 : 0;
  const pages = Array.from({ length: count + grows }, (_, i): MadePage => {
    const bornAt = i < count ? from : from + days * DAY_MS * next();
    const goneAt = next() < 0.15 ? bornAt + days * DAY_MS * next() : Number.POSITIVE_INFINITY;
    return { path: `/page-${i}.html`, bornAt, goneAt, changes: changesOf(bornAt, from + days * DAY_MS, next) };
  });
  const fates = FATES.flatMap((kind): Fate[] => {
    if (next() >= (kind === 'moved' ? 0.05 : 0.25)) return [];
    const [least, most] = LENGTH_DAYS[kind];
    const at = from + (10 + (days - 10) * next()) * DAY_MS;
    return [{ kind, from: at, to: at + (least + (most - least) * next()) * DAY_MS }];
  });
  const kinds = ['etag', 'date', 'none', 'lying'] as const;
  return { address, pages, fates, validator: kinds[Math.min(3, Math.floor(3.2 * next()))] as MadeHost['validator'] };
}

/** Times of a Poisson process, whose rate is drawn. */
function changesOf(from: number, to: number, next: () => number): number[] {
  const mean = DAY_MS * Math.exp(Math.log(0.5) + (Math.log(1_000) - Math.log(0.5)) * next());
  const times: number[] = [];
  for (let at = from; at < to; at += -mean * Math.log(1 - next())) times.push(at);
  return times;
}

const isUnder = ({ fates }: MadeHost, kind: Fate['kind'], now: number): boolean =>
  fates.some((each) => each.kind === kind && each.from <= now && now < each.to);

const isThere = ({ bornAt, goneAt }: MadePage, now: number): boolean => bornAt <= now && now < goneAt;

/** The last time that is not after `now`. */
const lastOf = (times: readonly number[], now: number): number => Math.max(...times.filter((at) => at <= now), 0);

/** A host that lies has the same date for all its life. */
function validatorsOf({ validator }: MadeHost, dated: number, now: number): Record<string, string> {
  if (validator === 'etag') return { etag: `"${Math.round(dated)}"` };
  if (validator === 'none') return {};
  return { 'last-modified': new Date(validator === 'lying' ? now - (now % (400 * DAY_MS)) : dated).toUTCString() };
}

const isUnchanged = (
  validators: Readonly<Record<string, string>>,
  asked: Readonly<Record<string, unknown>>,
): boolean =>
  validators.etag !== undefined
    ? asked['if-none-match'] === validators.etag
    : validators['last-modified'] !== undefined && asked['if-modified-since'] === validators['last-modified'];

const plain = (status: number, body: string): MadeAnswer => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body,
});

const wordsOf = (next: () => number, count: number): string =>
  Array.from({ length: count }, () => `word${Math.floor(4_000 * next())}`).join(' ');
