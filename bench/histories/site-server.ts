import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seeded } from '../harness/seeded.ts';
import type { History, Step } from './history.ts';
import { ServedSite, type Variant } from './served-site.ts';
import { staticAnswer } from './static-answer.ts';

/** A line of the server's log. */
export interface LoggedRequest {
  readonly method: string;
  /** Path and query, as they were asked for. */
  readonly uri: string;
  readonly status: number;
  readonly bodyBytes: number;
}

/** nginx keeps a connection so long. */
const KEEP_ALIVE_MS = 75_000;

/** Serves the recorded site over HTTP, one step after the other, with the dates of the recorded time. */
export class SiteServer {
  private readonly site: ServedSite;
  private readonly variant: Variant;
  private readonly server: Server;
  private readonly random = seeded(1);
  private log: LoggedRequest[] = [];

  constructor(history: History, variant: Variant) {
    this.site = new ServedSite(history, variant);
    this.variant = variant;
    this.server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
      this.answer(request, response),
    );
  }

  /** @param port 0: any that is free */
  async listen(address: string, port: number): Promise<void> {
    this.server.listen(port, address);
    await once(this.server, 'listening');
  }

  /** The start page. */
  get origin(): string {
    const { address, port } = this.server.address() as AddressInfo;
    return `http://${address}:${port}/`;
  }

  show(step: Step): void {
    this.site.show(step);
  }

  /** What was asked since the last call. */
  takeLog(): LoggedRequest[] {
    const log = this.log;
    this.log = [];
    return log;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = request;
    const dynamic = this.variant === 'dynamic' ? { time: this.site.time, nonce: this.nonce() } : null;
    const { status, headers: answered, body } = staticAnswer(this.site, { method, url, headers }, dynamic);
    this.log.push({ method, uri: url, status, bodyBytes: body.length });
    response.sendDate = false;
    response.writeHead(status, { date: new Date(1_000 * this.site.time).toUTCString(), server: 'nginx', ...answered });
    response.end(body);
  }

  private nonce(): string {
    const part = (): string =>
      Math.floor(this.random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return part() + part() + part() + part();
  }
}
