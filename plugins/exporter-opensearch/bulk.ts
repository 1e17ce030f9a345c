import { createHash } from 'node:crypto';
import { type DeliveryAnswer, type DeliveryDeps, type DeliveryOptions, isPassing } from 'incrawl/bundled';
import { deliver, pauseMs } from 'incrawl/plugin';

/** One action of a bulk request: lines of NDJSON with their line ends. */
export interface BulkAction {
  readonly url: string;
  readonly isDelete: boolean;
  readonly lines: string;
}

export interface BulkOptions extends Omit<DeliveryOptions, 'body'> {
  readonly batchBytes: number;
  readonly batchActions: number;
}

/** Longest `_id` that a server accepts, bytes. */
const MAX_ID_BYTES = 512;

/** The URL itself, or a digest if it is too long. */
export const idOf = (url: string): string =>
  Buffer.byteLength(url) <= MAX_ID_BYTES ? url : `sha256:${createHash('sha256').update(url).digest('hex')}`;

export const indexAction = (url: string, document: object): BulkAction => ({
  url,
  isDelete: false,
  lines: `${JSON.stringify({ index: { _id: idOf(url) } })}\n${JSON.stringify(document)}\n`,
});

export const deleteAction = (url: string): BulkAction => ({
  url,
  isDelete: true,
  lines: `${JSON.stringify({ delete: { _id: idOf(url) } })}\n`,
});

interface BulkAnswer {
  readonly errors?: boolean;
  readonly items?: readonly Readonly<Record<string, BulkItem>>[];
}

interface BulkItem {
  readonly status?: number;
  readonly error?: { readonly type?: string; readonly reason?: string } | string;
}

/**
 * Sends actions in batches limited by bytes. Actions that a busy server rejects are resent; other failures are kept.
 */
export class BulkSender {
  /** Actions that the server refused for good, and the first reasons. */
  refused = 0;
  readonly reasons: string[] = [];
  private readonly options: BulkOptions;
  private readonly deps: DeliveryDeps;
  private batch: BulkAction[] = [];
  private bytes = 0;

  constructor(options: BulkOptions, deps: DeliveryDeps) {
    this.options = options;
    this.deps = deps;
  }

  async add(action: BulkAction): Promise<void> {
    const bytes = Buffer.byteLength(action.lines);
    const { batchBytes, batchActions } = this.options;
    if (this.bytes + bytes > batchBytes || this.batch.length >= batchActions) await this.flush();
    this.batch.push(action);
    this.bytes += bytes;
  }

  async flush(): Promise<void> {
    let left = this.batch;
    this.batch = [];
    this.bytes = 0;
    for (let attempt = 0; left.length > 0; attempt++) {
      const sent = left;
      const answer = await deliver({ ...this.options, body: sent.map(({ lines }) => lines).join('') }, this.deps);
      left = this.putOff(sent, parsed(answer));
      if (left.length === 0) return;
      if (attempt >= this.options.retries) {
        const documents = left.length === 1 ? '1 document' : `${left.length} documents`;
        throw new Error(`the server postponed ${documents} ${attempt + 1} times, the first is ${left[0]?.url}`);
      }
      await this.deps.sleep(pauseMs(attempt, this.options.firstPauseMs, this.deps.random));
    }
  }

  /** Actions to be resent. */
  private putOff(sent: readonly BulkAction[], answer: BulkAnswer): BulkAction[] {
    if (answer.errors === false) return [];
    if (answer.items?.length !== sent.length) {
      throw new Error(`the answer has ${answer.items?.length ?? 0} items for ${sent.length} documents sent`);
    }
    return sent.filter((action, i) => {
      const item = Object.values(answer.items?.[i] ?? {})[0];
      const status = item?.status ?? 500;
      // 404 for a delete: the document is already absent.
      if (status < 300 || (action.isDelete && status === 404)) return false;
      if (isPassing(status)) return true;
      this.refused++;
      if (this.reasons.length < 3) this.reasons.push(`${action.url}: ${reasonOf(item)}`);
      return false;
    });
  }
}

function parsed({ text }: DeliveryAnswer): BulkAnswer {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === 'object' && answer !== null) return answer;
  } catch {
    // Said below.
  }
  throw new Error(`expected a JSON object as the answer, got ${text.slice(0, 100)}`);
}

function reasonOf(item: BulkItem | undefined): string {
  const error = item?.error;
  const said = typeof error === 'string' ? error : [error?.type, error?.reason].filter(Boolean).join(': ');
  return `status ${item?.status ?? 'unknown'}${said === '' ? '' : ` ${said.slice(0, 200)}`}`;
}
