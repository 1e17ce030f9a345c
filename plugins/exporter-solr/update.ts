import { type DeliveryDeps, DeliveryError, type DeliveryOptions } from 'incrawl/bundled';
import { deliver } from 'incrawl/plugin';
import type { SolrDocument } from './documents.ts';

export interface UpdateOptions extends Omit<DeliveryOptions, 'body'> {
  readonly batchBytes: number;
  readonly batchPages: number;
}

/** A document to add, or the key of one to delete, as JSON. */
interface Update {
  readonly url: string;
  readonly isDelete: boolean;
  readonly json: string;
}

/** An index that refuses this many documents does not fit them, so the export ends. */
const MAX_REFUSED = 100;

/**
 * Sends documents and deletes to the update handler of Solr, in batches of one kind. Solr ends a request at the first
 * document that it refuses, whatever came before it: such a batch is halved until the refused document is alone.
 */
export class UpdateSender {
  /** Documents that the server refused for good, and the first reasons. */
  refused = 0;
  readonly reasons: string[] = [];
  private readonly options: UpdateOptions;
  private readonly deps: DeliveryDeps;
  private batch: Update[] = [];
  private bytes = 0;

  constructor(options: UpdateOptions, deps: DeliveryDeps) {
    this.options = options;
    this.deps = deps;
  }

  add(url: string, document: SolrDocument): Promise<void> {
    return this.queue({ url, isDelete: false, json: JSON.stringify(document) });
  }

  /** Deletes a document by its unique key. A missing document is not an error to Solr. */
  remove(url: string): Promise<void> {
    return this.queue({ url, isDelete: true, json: JSON.stringify(url) });
  }

  async flush(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    this.bytes = 0;
    if (batch.length > 0) await this.send(batch);
  }

  private async queue(update: Update): Promise<void> {
    const bytes = Buffer.byteLength(update.json) + 1;
    const { batchBytes, batchPages } = this.options;
    const isOther = this.batch.length > 0 && this.batch[0]?.isDelete !== update.isDelete;
    if (isOther || this.bytes + bytes > batchBytes || this.batch.length >= batchPages) await this.flush();
    this.batch.push(update);
    this.bytes += bytes;
  }

  private async send(batch: readonly Update[]): Promise<void> {
    const list = `[${batch.map(({ json }) => json).join(',')}]`;
    const body = batch[0]?.isDelete ? `{"delete":${list}}` : list;
    try {
      const { text } = await deliver({ ...this.options, body }, this.deps);
      this.noteErrors(text);
    } catch (error) {
      if (!(error instanceof DeliveryError) || error.answer?.status !== 400) throw error;
      if (batch.length === 1) return this.refuse(batch[0]?.url ?? '', reasonIn(error.answer.text) ?? error.message);
      const middle = batch.length >> 1;
      await this.send(batch.slice(0, middle));
      await this.send(batch.slice(middle));
    }
  }

  /** An index with a tolerant processor accepts the rest of a batch, and lists what it refused. */
  private noteErrors(text: string): void {
    const { status, errors } = headerOf(text);
    for (const each of errors) this.refuse(String(each.id ?? ''), String(each.message ?? ''));
    if (status !== 0 && errors.length === 0) throw new Error(`the update handler answered status ${status}`);
  }

  private refuse(url: string, reason: string): void {
    this.refused++;
    if (this.reasons.length < 3) this.reasons.push(`${url}: ${reason.slice(0, 300)}`);
    if (this.refused >= MAX_REFUSED) throw new Error(this.refusal());
  }

  /** What was refused, in a sentence. */
  refusal(): string {
    return `the server refused ${this.refused} documents: ${this.reasons.join('; ')}`;
  }
}

/** The message of an error answer, after the names of Java classes. */
function reasonIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: { msg?: unknown } };
    return typeof error?.msg === 'string' ? error.msg : null;
  } catch {
    return null;
  }
}

interface UpdateHeader {
  readonly status: number;
  readonly errors: readonly Readonly<Record<string, unknown>>[];
}

/** The `responseHeader` of an answer; servers other than Solr have none. */
function headerOf(text: string): UpdateHeader {
  try {
    const { responseHeader } = JSON.parse(text) as { responseHeader?: Partial<UpdateHeader> };
    if (typeof responseHeader?.status === 'number') {
      return { status: responseHeader.status, errors: responseHeader.errors ?? [] };
    }
  } catch {
    // Said below.
  }
  throw new Error(`expected the answer of an update handler of Solr, got ${text.slice(0, 100)}`);
}
