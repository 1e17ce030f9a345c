import type { KafkaProducer } from './client.ts';
import { isTooLarge } from './faults.ts';
import { type KafkaMessage, sizeOf } from './messages.ts';

export interface SenderOptions {
  readonly batchBytes: number;
  readonly batchMessages: number;
}

export interface SenderDeps {
  /** A connected producer with its own id at the brokers. */
  readonly connect: () => Promise<KafkaProducer>;
  /** Sends messages through it. Rejects with the client's error. */
  readonly send: (producer: KafkaProducer, messages: readonly KafkaMessage[]) => Promise<void>;
}

/** Sends messages in their order, in batches limited by bytes, one batch after the other. */
export class KafkaSender {
  /** Messages that are too large for the topic, and the first of them. */
  refused = 0;
  readonly examples: string[] = [];
  private readonly options: SenderOptions;
  private readonly deps: SenderDeps;
  private producer: KafkaProducer;
  private batch: KafkaMessage[] = [];
  private bytes = 0;

  constructor(options: SenderOptions, deps: SenderDeps, producer: KafkaProducer) {
    this.options = options;
    this.deps = deps;
    this.producer = producer;
  }

  async add(message: KafkaMessage): Promise<void> {
    const bytes = sizeOf(message);
    const { batchBytes, batchMessages } = this.options;
    if (this.bytes + bytes > batchBytes || this.batch.length >= batchMessages) await this.flush();
    this.batch.push(message);
    this.bytes += bytes;
  }

  async flush(): Promise<void> {
    const { batch } = this;
    [this.batch, this.bytes] = [[], 0];
    if (batch.length > 0) await this.send(batch);
  }

  disconnect(): Promise<void> {
    return this.producer.disconnect();
  }

  /**
   * A batch that is too large is sent in halves, so that only messages that are too large by themselves are left out.
   */
  private async send(messages: readonly KafkaMessage[]): Promise<void> {
    try {
      await this.deps.send(this.producer, messages);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      await this.renew();
      if (messages.length === 1) return this.refuse(messages[0] as KafkaMessage);
      const half = messages.length >> 1;
      await this.send(messages.slice(0, half));
      await this.send(messages.slice(half));
    }
  }

  /**
   * Partitions that accepted their part of a refused batch have counted it, but the client has not: the next messages
   * of this producer would be taken for repetitions, and lost.
   */
  private async renew(): Promise<void> {
    await this.producer.disconnect();
    this.producer = await this.deps.connect();
  }

  private refuse(message: KafkaMessage): void {
    this.refused++;
    if (this.examples.length < 3) this.examples.push(`${message.key} (${sizeOf(message)} bytes)`);
  }
}
