import { type Served, serve } from '../harness/places.ts';
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
}

export interface SiteServer extends Served {
  /** Goes on to a step. */
  show(step: Step): void;
  /** What was asked since the last call. */
  takeLog(): LoggedRequest[];
}

/**
 * Serves the recorded site over HTTP, one step after the other, with the dates of the recorded time.
 * @param port 0: any that is free
 */
export async function serveHistory(
  history: History,
  variant: Variant,
  address: string,
  port: number,
): Promise<SiteServer> {
  const site = new ServedSite(history, variant);
  const random = seeded(1);
  const word = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const log: LoggedRequest[] = [];
  const served = await serve(
    ({ method = 'GET', url = '/', headers }, response) => {
      const dynamic = variant === 'dynamic' ? { time: site.time, nonce: word() + word() + word() + word() } : null;
      const { status, headers: answered, body } = staticAnswer(site, { method, url, headers }, dynamic);
      log.push({ method, uri: url, status });
      response.sendDate = false;
      response.writeHead(status, { date: new Date(1_000 * site.time).toUTCString(), server: 'nginx', ...answered });
      response.end(body);
    },
    address,
    port,
  );
  return {
    ...served,
    show: (step) => site.show(step),
    takeLog: () => log.splice(0),
  };
}
