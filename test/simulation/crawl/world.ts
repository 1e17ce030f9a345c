import { chance, choice } from './chance.ts';
import { htmlOf, type PageContent } from './pages.ts';

/** A host and its habits. */
export interface SimulatedHost {
  readonly name: string;
  readonly pages: number;
  readonly robots: 'none' | 'rules' | 'failing';
  /** Seconds; 0: none is asked for. */
  readonly crawlDelay: number;
  readonly validators: 'etag' | 'last-modified' | 'none';
  /** Answers "unchanged" whatever has changed. */
  readonly isLying: boolean;
  /** Time between two versions of its pages that change, ms; `null`: none does. */
  readonly changesEveryMs: number | null;
  /** Shares of requests that fail in some way, ask for a pause, or end within the body. */
  readonly faulty: number;
  readonly throttling: number;
  readonly cutting: number;
  /** Links without end. */
  readonly isTrap: boolean;
}

/** What a host answers to a request. */
export interface Answer {
  /** Time until the head, ms. */
  readonly latencyMs: number;
  /** Nothing is answered: a fault of the network. */
  readonly fault?: 'connect-failed' | 'connect-timeout' | 'dns-failed' | 'protocol-error' | 'stall';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Bytes that arrive, where the connection breaks off. */
  readonly cutAt?: number;
  readonly content?: PageContent;
}

const HOUR = 3_600_000;
const STEADY = { isLying: false, changesEveryMs: null, faulty: 0, throttling: 0, cutting: 0, isTrap: false } as const;
/** Pages that a trap links to from each of its pages. */
const TRAP_LINKS = 3;

/**
 * An internet that follows from its seed. In a steady one each URL is answered alike at all times, so that a crawl ends
 * at the same pages however often it is interrupted.
 */
export class SimulatedWorld {
  readonly hosts: readonly SimulatedHost[];
  readonly #seed: number;
  readonly #start: number;
  readonly #hops: number;

  /**
   * @param hops length of the chains of pages that nothing but the page before, mostly of another host, links to
   * @param domain of all hosts; with `example` each is a registrable domain of its own
   */
  constructor(seed: number, isSteady: boolean, start: number, hops = 0, domain = 'example') {
    this.#seed = seed;
    this.#start = start;
    this.#hops = hops;
    const count = 2 + Math.floor(chance(seed, 'hosts') * 5);
    this.hosts = Array.from({ length: count }, (_, i) => this.#newHost(`h${i}.${domain}`, isSteady));
  }

  get seeds(): readonly string[] {
    return this.hosts.map(({ name }) => `http://${name}/`);
  }

  hostOf(url: string): SimulatedHost | undefined {
    const { host } = new URL(url);
    return this.hosts.find(({ name }) => name === host);
  }

  /** Whether no other URL has the text of this page, so that it is never a duplicate. */
  isUnique(url: string): boolean {
    const { pathname, search } = new URL(url);
    const host = this.hostOf(url);
    if (host === undefined || search !== '') return false;
    const [, kind = '', key = ''] = pathname.split('/');
    if (kind === 'far') return true;
    if (kind === 'late') return /^\d+-\d+$/.test(key);
    if (kind !== 'p') return false;
    const links = this.#links(host, Number(key));
    return Number(key) > 0 && !links.some((link) => link.startsWith('/twin/') || link.includes('?'));
  }

  /** @param nth how many requests for the URL came before */
  answer(url: string, headers: Readonly<Record<string, string>>, at: number, nth: number): Answer {
    const host = this.hostOf(url);
    const { pathname, search } = new URL(url);
    const seed = this.#seed;
    const latencyMs = 5 + Math.floor(chance(seed, url, nth, 'latency') ** 4 * 3_000);
    const nothing = { latencyMs, status: 0, headers: {}, body: Buffer.alloc(0) };
    if (host === undefined) return { ...nothing, fault: 'dns-failed' };
    if (pathname === '/robots.txt') return { ...nothing, ...this.#robots(host, at, nth) };
    const luck = chance(seed, url, nth, 'fault');
    if (luck < host.faulty) {
      const fault = choice(
        ['connect-failed', 'connect-timeout', 'protocol-error', 'stall', '500', '403'] as const,
        seed,
        url,
        nth,
      );
      if (fault === '500' || fault === '403') return { ...nothing, status: Number(fault) };
      return { ...nothing, fault };
    }
    if (luck < host.faulty + host.throttling) {
      const seconds = choice([1, 7, 40, 300, 4_000], seed, url, nth, 'retry');
      return { ...nothing, status: choice([429, 503], seed, url, nth), headers: { 'retry-after': String(seconds) } };
    }
    return { ...nothing, ...this.#page(host, pathname + search, headers, at, nth) };
  }

  #newHost(name: string, isSteady: boolean): SimulatedHost {
    const seed = this.#seed;
    const is = (share: number, what: string): boolean => chance(seed, name, what) < share;
    const share = (what: string, most: number): number =>
      is(0.4, what) ? chance(seed, name, what, 'share') * most : 0;
    const base = {
      name,
      pages: 3 + Math.floor(chance(seed, name, 'pages') ** 2 * 30),
      crawlDelay: is(0.4, 'slow') ? 1 + Math.floor(chance(seed, name, 'delay') * 12) : 0,
      validators: choice(['etag', 'last-modified', 'none'] as const, seed, name, 'validators'),
    };
    if (isSteady) return { ...base, robots: is(0.6, 'robots') ? 'rules' : 'none', ...STEADY };
    return {
      ...base,
      robots: choice(['none', 'rules', 'rules', 'failing'] as const, seed, name, 'robots'),
      isLying: is(0.2, 'lying'),
      changesEveryMs: is(0.6, 'changing') ? HOUR * (1 + Math.floor(chance(seed, name, 'period') * 200)) : null,
      faulty: share('faulty', 0.4),
      throttling: share('throttling', 0.25),
      cutting: share('cutting', 0.3),
      isTrap: is(0.15, 'trap'),
    };
  }

  #robots(host: SimulatedHost, at: number, nth: number): Partial<Answer> {
    // Those that fail do so for hours, and at times ask for a pause.
    if (host.robots === 'failing' && chance(this.#seed, host.name, Math.floor(at / (7 * HOUR)), 'robots') < 0.4) {
      const isAsking = chance(this.#seed, host.name, nth, 'asking') < 0.3;
      return { status: 503, headers: isAsking ? { 'retry-after': '90' } : {} };
    }
    if (host.robots === 'none' && host.crawlDelay === 0) return { status: 404 };
    const delay = host.crawlDelay > 0 ? `Crawl-delay: ${host.crawlDelay}\n` : '';
    const body = Buffer.from(`User-agent: *\n${delay}Disallow: /private/\n`);
    return { status: 200, headers: { 'content-type': 'text/plain' }, body };
  }

  #page(
    host: SimulatedHost,
    path: string,
    asked: Readonly<Record<string, string>>,
    at: number,
    nth: number,
  ): Partial<Answer> {
    const [, kind = '', key = ''] = path.split(/[/?]/);
    if (kind === 'sitemap.xml') return this.#sitemap(host);
    const number = Number(key);
    if (kind === 'r')
      return {
        status: choice([301, 302, 307, 308], host.name, path),
        headers: { location: this.#target(host, number) },
      };
    if (kind === 'gone') return { status: number % 2 === 0 ? 404 : 410 };
    if (kind === 'nothing') return { status: 200, headers: HTML, body: Buffer.from('<p>There is no such page.</p>') };
    const content = this.#content(host, kind, key, at);
    if (content === null) return { status: 404 };
    const body = htmlOf(content);
    const headers = { ...HTML, 'content-length': String(body.length), ...this.#validators(host, content, at) };
    if (this.#isKnown(asked, headers)) return { status: 304, headers };
    const isCut = chance(this.#seed, host.name, path, nth, 'cut') < host.cutting;
    const cutAt = Math.floor(body.length * chance(this.#seed, path, nth, 'at'));
    return { status: 200, headers, body, content, ...(isCut && { cutAt }) };
  }

  #sitemap({ name, pages }: SimulatedHost): Partial<Answer> {
    if (chance(this.#seed, name, 'sitemap') < 0.5) return { status: 404 };
    const entries = Array.from({ length: pages }, (_, i) => `<url><loc>http://${name}/p/${i}</loc></url>`).join('');
    const body = Buffer.from(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries}</urlset>`);
    return { status: 200, headers: { 'content-type': 'application/xml' }, body };
  }

  #content(host: SimulatedHost, kind: string, key: string, at: number): PageContent | null {
    const { name, pages, isTrap } = host;
    const own = (path: string): string => `http://${name}${path}`;
    if (kind === 'trap' && isTrap) {
      const links = Array.from({ length: TRAP_LINKS }, (_, i) => own(`/trap/${key}${i}`));
      return { title: `trap ${key}`, text: `${name}/trap/${key}`, links };
    }
    if (kind === 'twin') return { title: `page ${key}`, text: `${name}/p/${key}`, links: [own(`/p/${key}`)] };
    if (kind === 'far') {
      const links = this.#far(key.slice(key.indexOf('-') + 1), Number.parseInt(key, 10) + 1);
      return { title: `far ${key}`, text: `${name}/far/${key}`, links };
    }
    if (kind === 'late') return { title: `late ${key}`, text: `${name}/late/${key}`, links: [own('/')] };
    if (kind !== '' && kind !== 'p' && kind !== 'private') return null;
    const number = kind === '' ? 0 : Number(key);
    if (!(number >= 0 && number < pages)) return null;
    const version = this.#version(host, number, at);
    const text = `${name}/${kind === 'private' ? kind : 'p'}/${number}${version === 0 ? '' : `/v${version}`}`;
    const links = this.#links(host, number).map((link) => (link.startsWith('/') ? own(link) : link));
    // Versions bring pages of their own, which are linked no more by the next one.
    if (version > 0) links.push(own(`/late/${number}-${version % 5}`));
    return { title: `page ${number} version ${version}`, text, links };
  }

  #links({ name, pages, isTrap }: SimulatedHost, number: number): string[] {
    const seed = this.#seed;
    const links: string[] = [];
    for (const child of [2 * number + 1, 2 * number + 2]) if (child < pages) links.push(`/p/${child}`);
    const is = (share: number, what: string): boolean => chance(seed, name, number, what) < share;
    if (is(0.4, 'elsewhere')) {
      const other = choice(this.hosts ?? [], seed, name, number, 'other');
      if (other !== undefined)
        links.push(`http://${other.name}/p/${Math.floor(chance(seed, name, number, 'page') * other.pages)}`);
    }
    if (is(0.25, 'redirect')) links.push(`/r/${number}`);
    if (is(0.15, 'gone')) links.push(`/gone/${number}`);
    if (is(0.15, 'private')) links.push(`/private/${number}`);
    if (is(0.2, 'twin')) links.push(`/twin/${number}`);
    if (is(0.1, 'nothing')) links.push(`/nothing/${number}`);
    if (is(0.1, 'query')) links.push(`/p/${number}?sort=a`, `/p/${number}?sort=b`);
    if (is(0.05, 'unknown')) links.push(`http://unknown${number}.example/`);
    if (isTrap && number < 2) links.push(`/trap/${number}`);
    if (is(0.5, 'far')) links.push(...this.#far(`${name}-${number}`, 1));
    return links;
  }

  /** The link of the page before to the so-manyth page of a chain; none after the last. */
  #far(chain: string, hop: number): string[] {
    if (hop > this.#hops) return [];
    return [`http://${choice(this.hosts, this.#seed, chain, hop).name}/far/${hop}-${chain}`];
  }

  /** Redirects lead to pages, to further redirects, in circles, or to another host. */
  #target({ name, pages }: SimulatedHost, number: number): string {
    const seed = this.#seed;
    const other = choice(this.hosts, seed, name, number, 'target');
    const way = chance(seed, name, number, 'way');
    if (way < 0.2) return `/r/${number}`;
    if (way < 0.4) return `/r/${number + 1}`;
    if (way < 0.6) return `http://${other.name}/p/${number % other.pages}`;
    return `/p/${number % pages}`;
  }

  /** Versions of a page so far; the first is 0. */
  #version({ name, changesEveryMs }: SimulatedHost, number: number, at: number): number {
    if (changesEveryMs === null || chance(this.#seed, name, number, 'static') < 0.5) return 0;
    const offset = chance(this.#seed, name, number, 'offset');
    return Math.floor((at - this.#start) / changesEveryMs + offset);
  }

  #validators({ validators, isLying, name }: SimulatedHost, { text }: PageContent, at: number): Record<string, string> {
    const seen = isLying ? name : text;
    if (validators === 'etag') return { etag: `"${Math.floor(chance(seen) * 1e9)}"` };
    if (validators === 'none') return {};
    const age = isLying ? 0 : Math.floor(chance(text, 'modified') * 1e6);
    return { 'last-modified': new Date(Math.min(at, this.#start) - 1_000 * age - 1_000).toUTCString() };
  }

  #isKnown(asked: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>): boolean {
    const lower = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name.toLowerCase(), value]));
    if (lower['if-none-match'] !== undefined)
      return headers.etag !== undefined && lower['if-none-match'] === headers.etag;
    const since = lower['if-modified-since'];
    return since !== undefined && headers['last-modified'] !== undefined && since === headers['last-modified'];
  }
}

const HTML = { 'content-type': 'text/html; charset=utf-8' };
