import type { Answer } from './world.ts';

export interface PolitenessOptions {
  /** The configured delay, ms. */
  readonly delayMs: number;
  readonly connectionsPerHost: number;
}

/** A request under way. */
export interface Turn {
  readonly host: string;
  readonly url: string;
  readonly startedAt: number;
}

interface HostTimes {
  running: number;
  lastEndAt: number;
  lastUrl: string;
  /** The Crawl-delay that the host has sent, ms. */
  crawlDelayMs: number;
  /** End of a Retry-After. */
  restUntil: number;
  /** Whether robots.txt was ever answered in a way that allows pages. */
  hasRobots: boolean;
}

/**
 * What the hosts see of the crawler, from a log of its own of the start and end of each request: one request at a time,
 * the next one a delay after the end of the last, no earlier than a Crawl-delay or Retry-After allows, and no page
 * without robots.txt or against it.
 */
export class PolitenessWatch {
  readonly violations: string[] = [];
  readonly #options: PolitenessOptions;
  readonly #hosts = new Map<string, HostTimes>();

  constructor(options: PolitenessOptions) {
    this.#options = options;
  }

  begin(url: string, startedAt: number): Turn {
    const { host, pathname } = new URL(url);
    const times = this.#timesOf(host);
    const { delayMs, connectionsPerHost } = this.#options;
    const violates = (what: string): void => {
      this.violations.push(`${url} at ${new Date(startedAt).toISOString()}: ${what}`);
    };
    if (times.running >= connectionsPerHost) violates(`${times.running} requests to the host were under way`);
    const least = Math.max(delayMs, times.crawlDelayMs);
    const gap = startedAt - times.lastEndAt;
    if (gap < least) violates(`${gap} ms after the end of ${times.lastUrl}, where ${least} ms were due`);
    if (startedAt < times.restUntil) violates(`${times.restUntil - startedAt} ms before the end of a Retry-After`);
    if (pathname !== '/robots.txt' && !times.hasRobots) violates('robots.txt had not answered');
    if (pathname.startsWith('/private/') && times.crawlDelayMs >= 0 && this.#isDisallowing.has(host)) {
      violates('robots.txt does not allow it');
    }
    times.running++;
    return { host, url, startedAt };
  }

  /** @param answer `null`: the head of it did not arrive, so that the crawler cannot know what it asks for */
  end({ host, url }: Turn, at: number, answer: Answer | null): void {
    const times = this.#timesOf(host);
    times.running--;
    times.lastEndAt = at;
    times.lastUrl = url;
    if (answer === null) return;
    const { status, headers, body } = answer;
    const retryAfter = headers['retry-after'];
    if (retryAfter !== undefined) times.restUntil = Math.max(times.restUntil, at + 1_000 * Number(retryAfter));
    if (!url.endsWith('/robots.txt') || status >= 500) return;
    times.hasRobots = true;
    const text = status === 200 ? body.toString() : '';
    times.crawlDelayMs = 1_000 * Number(/Crawl-delay: (\d+)/.exec(text)?.[1] ?? 0);
    if (text.includes('Disallow: /private/')) this.#isDisallowing.add(host);
  }

  /** The next process cannot know when the last one that was cut off ended its requests, nor who asked it to wait. */
  crash(): void {
    for (const times of this.#hosts.values()) {
      times.running = 0;
      times.lastEndAt = Number.NEGATIVE_INFINITY;
      times.restUntil = Number.NEGATIVE_INFINITY;
    }
  }

  readonly #isDisallowing = new Set<string>();

  #timesOf(host: string): HostTimes {
    let times = this.#hosts.get(host);
    if (times === undefined) {
      times = {
        running: 0,
        lastEndAt: Number.NEGATIVE_INFINITY,
        lastUrl: '',
        crawlDelayMs: 0,
        restUntil: Number.NEGATIVE_INFINITY,
        hasRobots: false,
      };
      this.#hosts.set(host, times);
    }
    return times;
  }
}
