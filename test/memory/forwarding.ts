import {
  type ForwardedLink,
  type InboxRow,
  isPartition,
  type OutboxRow,
  parcelsOf,
} from '../../src/core/domain/crawl/discovery/forwarded-link.ts';
import { hostOf, urlKey } from '../../src/core/domain/url/canonical/url-key.ts';
import type {
  Forwarding,
  ForwardingBatch,
  ForwardingMarks,
  ReceivedRow,
} from '../../src/core/ports/partitions/forwarding.ts';

/** Outbox and inbox as plain lists. */
export class MemoryForwarding implements Forwarding {
  readonly #waiting = new Map<string, ForwardedLink>();
  #outbox: OutboxRow[] = [];
  #inbox: InboxRow[] = [];
  readonly #received = new Map<string, number>();
  #last = 0;

  apply({ forward = [], handedOver = [], received = [], wait = [], waited = [], restore = {} }: ForwardingBatch): void {
    for (const each of parcelsOf(forward)) this.#outbox.push({ ...each, number: ++this.#last });
    this.#outbox = this.#outbox.filter(
      (row) => !handedOver.some(({ to, number }) => row.to === to && row.number === number),
    );
    this.#inbox = this.#inbox.filter(
      (row) => !received.some(({ from, number }) => row.from === from && row.number === number),
    );
    for (const { from, number } of received) {
      if (isPartition(from)) this.#received.set(from, Math.max(this.#received.get(from) ?? 0, number));
    }
    for (const link of wait) this.#waiting.set(link.url, link);
    for (const url of waited) this.#waiting.delete(url);
    this.#outbox.push(...(restore.outbox ?? []));
    this.#inbox.push(...(restore.inbox ?? []));
    for (const { from, through } of restore.marks?.received ?? []) this.#received.set(from, through);
    this.#last = Math.max(this.#last, restore.marks?.lastSent ?? 0);
  }

  async *outbox({ to, limit }: { readonly to?: number; readonly limit?: number } = {}): AsyncGenerator<OutboxRow> {
    const asked = this.#outbox.filter((row) => to === undefined || row.to === to);
    yield* asked.sort((a, b) => a.to - b.to || a.number - b.number).slice(0, limit);
  }

  async *inbox(limit?: number): AsyncGenerator<ReceivedRow> {
    const rows = [...this.#inbox].sort((a, b) => byText(a.from, b.from) || a.number - b.number);
    for (const row of rows.slice(0, limit)) {
      yield { ...row, isKnown: row.number <= (this.#received.get(row.from) ?? Number.NEGATIVE_INFINITY) };
    }
  }

  async waiting(urls: readonly string[]): Promise<(ForwardedLink | undefined)[]> {
    return urls.map((url) => this.#waiting.get(url));
  }

  async *scanWaiting(host?: string): AsyncGenerator<ForwardedLink> {
    const links = [...this.#waiting.values()].filter(({ url }) => host === undefined || hostOf(url) === host);
    yield* links.sort((a, b) => byText(urlKey(a.url), urlKey(b.url)));
  }

  async marks(): Promise<ForwardingMarks> {
    const received = [...this.#received].map(([from, through]) => ({ from, through }));
    return { lastSent: this.#last, received: received.sort((a, b) => byText(a.from, b.from)) };
  }
}

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
