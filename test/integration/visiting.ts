import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler, type WorkProgress } from '../../src/crawler/index.ts';
import { afterThisTest } from '../support/ends.ts';

export const DAY = 86_400_000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
export const PAGE = `<title>page</title><p>${'words of a page '.repeat(200)}</p><a href="/child">child</a>`;

export interface Visited {
  /** State directory. */
  readonly dir: string;
  readonly crawler: Crawler;
  readonly origin: string;
  /** Methods and paths in order, robots.txt left out. */
  readonly asked: string[];
  /** When each request came, robots.txt included. */
  readonly sentAt: number[];
  /** Reports of long work. */
  readonly work: WorkProgress[];
  now(): number;
  /**
   * Closes the crawler and opens the next one on the same state, as another process does, with the clock put by so
   * much.
   */
  reopen(ms?: number): Promise<Crawler>;
  /** How robots.txt is answered from now on. */
  robots(answer: Answer): void;
  /** Puts the clock on. */
  pass(ms: number): void;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An answer, and the real time that each sleep of the clock takes, ms; default: a turn of the event loop. */
export interface PacedAnswer {
  readonly answer: Answer;
  readonly pauseMs: number;
}

const robots: Answer = (_request, response) => {
  response.writeHead(200).end('User-agent: *\nDisallow: /private\n');
};

/**
 * A crawler with a simulated clock, which jumps to the end of each sleep, and a server that answers by `answer`. A
 * setting may name the host (`127.0.0.1:PORT`) of that server.
 */
export async function visiting(
  answering: Answer | PacedAnswer,
  ...settings: (string | ((host: string) => string))[]
): Promise<Visited> {
  const { answer, pauseMs } = typeof answering === 'function' ? { answer: answering, pauseMs: null } : answering;
  const asked: string[] = [];
  const sentAt: number[] = [];
  const work: WorkProgress[] = [];
  let now = Date.UTC(2026, 5, 1);
  let answerRobots = robots;
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') return answerRobots(request, response);
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.prependListener('request', () => sentAt.push(now));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dir = await mkdtemp(join(tmpdir(), 'incrawl-'));
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const options = {
    config: defaultConfig([
      'fetch.delay=0',
      'fetch.auditShare=0',
      'http.allowAddresses=["127.0.0.0/8"]',
      'http.headTimeout=300ms',
      'sitemaps.mode=off',
      ...settings.map((setting) => (typeof setting === 'string' ? setting : setting(host))),
    ]),
    dir,
    log: silent,
    onWork: (progress: WorkProgress) => void work.push(progress),
    clock: {
      now: () => now,
      sleep: async (ms: number) => {
        await (pauseMs === null ? new Promise(setImmediate) : delay(pauseMs));
        now += ms;
      },
    },
  };
  const crawler = await openCrawler(options);
  let current = crawler;
  afterThisTest(() => rm(dir, { recursive: true, force: true }));
  afterThisTest(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  afterThisTest(() => current.close());
  return {
    dir,
    crawler,
    origin: `http://${host}`,
    asked,
    sentAt,
    work,
    now: () => now,
    async reopen(ms = 0) {
      await current.close();
      now += ms;
      current = await openCrawler(options);
      return current;
    },
    robots(other) {
      answerRobots = other;
    },
    pass(ms) {
      now += ms;
    },
  };
}

export const seed = (...urls: string[]) => ({ seeds: [{ name: 'test', lines: urls }] });
