import { afterAll, afterEach, beforeAll } from 'vitest';
import { CrawlError } from '../../src/core/domain/errors.ts';
import type { Exchange, ExchangeRequest, FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import { type HostileServer, startHostileServer } from '../site/hostile-server.ts';

export interface ProtocolSettings {
  readonly userAgent: string;
  readonly maxHeaderBytes: number;
  readonly connectTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly allowAddresses: readonly string[];
  readonly maxSockets?: number;
  readonly maxIdleSockets?: number;
}

/** Questions that a transport is not asked, each with its reason. */
export type SkippedQuestions = Readonly<Record<string, string>>;

export type CreateProtocol = (settings: ProtocolSettings) => FetchProtocol | Promise<FetchProtocol>;

/** Where the servers of the exam are, and how they are spoken to. */
export interface ExamPlace {
  readonly httpVersion: string;
  start(): Promise<HostileServer>;
}

const PLAIN_HTTP: ExamPlace = { httpVersion: '1.1', start: startHostileServer };

export interface ProtocolExam {
  /** Only while a test runs. */
  readonly site: HostileServer;
  /** A protocol that is closed after the test. */
  open(settings?: Partial<ProtocolSettings>): Promise<FetchProtocol>;
  /** `path` on the site, or a whole URL; by a protocol of its own unless one is given. */
  ask(path: string, change?: Partial<ExchangeRequest>, protocol?: Promise<FetchProtocol>): Promise<Exchange>;
}

/** Servers and requests shared by the contracts of a protocol; for use within `describe`. */
export function protocolExam(create: CreateProtocol, place = PLAIN_HTTP): ProtocolExam {
  let site: HostileServer;
  const opened: FetchProtocol[] = [];

  beforeAll(async () => {
    site = await place.start();
  });
  afterEach(async () => {
    for (const protocol of opened.splice(0)) await protocol.close();
  });
  afterAll(() => site.close());

  const open: ProtocolExam['open'] = async (settings = {}) => {
    const protocol = await create({
      userAgent: 'exam/1.0 (+mailto:exam@example.org)',
      maxHeaderBytes: 16_384,
      connectTimeoutMs: 5000,
      headTimeoutMs: 5000,
      stallTimeoutMs: 5000,
      allowAddresses: ['127.0.0.0/8'],
      ...settings,
    });
    opened.push(protocol);
    return protocol;
  };
  return {
    get site() {
      return site;
    },
    open,
    ask: async (path, change = {}, protocol = open()) =>
      (await protocol).exchange({
        url: path.startsWith('/') ? site.origin + path : path,
        method: 'GET',
        headers: {},
        maxBodyBytes: 1_000_000,
        timeoutMs: 10_000,
        ...change,
      }),
  };
}

export const textOf = (body: Uint8Array | null): string => Buffer.from(body ?? []).toString('utf8');

/** Code of the failure; the whole error where it is no CrawlError; the result where nothing failed. */
export async function failure(exchange: Promise<Exchange>): Promise<unknown> {
  try {
    const { head, truncated, bodyBytes } = await exchange;
    return { status: head.status, truncated, bodyBytes };
  } catch (error) {
    return error instanceof CrawlError ? error.code : error;
  }
}

/** Answer of the raw server to the next request. */
export const FINE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine';
