import { type LoadPackage, loadPackage } from 'incrawl/bundled';
import type { KafkaMessage } from './messages.ts';

/** The used part of the optional package `kafkajs`. */
export interface KafkaJs {
  readonly Kafka: new (
    options: ClientOptions,
  ) => {
    admin(): KafkaAdmin;
    producer(options: ProducerOptions): KafkaProducer;
  };
  /** `DefaultPartitioner`: the one of Kafka's own clients, so that a key is in the same partition whoever writes it. */
  readonly Partitioners: { readonly DefaultPartitioner: unknown };
  readonly CompressionTypes: { readonly None: number; readonly GZIP: number };
  readonly logLevel: { readonly ERROR: number };
}

export interface KafkaAdmin {
  connect(): Promise<void>;
  fetchTopicMetadata(of: { readonly topics: readonly string[] }): Promise<unknown>;
  disconnect(): Promise<void>;
}

export interface KafkaProducer {
  connect(): Promise<void>;
  send(batch: KafkaBatch): Promise<unknown>;
  disconnect(): Promise<void>;
}

export interface KafkaBatch {
  readonly topic: string;
  readonly messages: readonly KafkaMessage[];
  /** -1: all replicas in sync have it. */
  readonly acks: -1;
  readonly compression: number;
  /** Time for the broker to gather the acknowledgements, ms. */
  readonly timeout: number;
}

export interface ClientOptions {
  readonly clientId: string;
  readonly brokers: readonly string[];
  readonly ssl: { readonly ca?: string; readonly cert?: string; readonly key?: string } | false;
  readonly sasl?: { readonly mechanism: string; readonly username: string; readonly password: string };
  readonly connectionTimeout: number;
  readonly authenticationTimeout: number;
  readonly requestTimeout: number;
  readonly retry: { readonly retries: number; readonly initialRetryTime: number; readonly maxRetryTime: number };
  readonly logLevel: number;
  readonly logCreator: () => (entry: LogEntry) => void;
}

export interface LogEntry {
  readonly log: { readonly message: string };
}

export interface ProducerOptions {
  readonly idempotent: true;
  readonly maxInFlightRequests: 1;
  readonly allowAutoTopicCreation: false;
  readonly createPartitioner: unknown;
}

/** The used part of its queue of requests to a broker. */
export interface RequestQueue {
  readonly prototype: { scheduleCheckPendingRequests(): void };
}

/** Throws an error that names the command which installs the package where it is missing. */
export function loadKafkaJs(load: LoadPackage = loadPackage): KafkaJs {
  const { module, part } = load('kafka', 'export --format kafka');
  setNoTimerForNothing(part('src/network/requestQueue') as RequestQueue);
  return module as KafkaJs;
}

/**
 * kafkajs 2.2.4 sets a timer after each answer, even if no request waits. The timer is then in the past, and Node 24
 * and later warn about that on standard error.
 */
export function setNoTimerForNothing({ prototype }: RequestQueue): void {
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function (this: { readonly pending: readonly unknown[] }) {
    if (this.pending.length > 0) schedule.call(this as never);
  };
}
