import type { KafkaAddress } from './address.ts';

/** Errors of the client, each with the error that led to it as its cause. */
interface ClientError extends Error {
  /** Name of an error of the protocol. */
  readonly type?: string;
  /** Code of an error of the connection. */
  readonly code?: string | number;
  readonly retriable?: boolean;
}

/** Whether the brokers do not know the topic. A starting broker says so of any topic. */
export const isUnknownTopic = (error: unknown): boolean => typeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION';

/** Whether the brokers accept no message, or no batch, of this size. */
export const isTooLarge = (error: unknown): boolean =>
  ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'].includes(typeOf(error));

function typeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { type } = each as ClientError;
    if (typeof type === 'string') return type;
  }
  return '';
}

const rootOf = (error: Error): ClientError => (error.cause instanceof Error ? rootOf(error.cause) : error);

/** Whether another attempt may succeed. The first error decides: later ones come from abandoned attempts. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { retriable = false, code } = rootOf(error);
  return retriable && !/CERT|SSL|TLS/.test(String(code));
}

/** What to do about an error of the client after some attempts, as an `Error` with the client's as its cause. */
export function faultOf(
  error: unknown,
  attempts: number,
  { brokers, topic, isTls }: KafkaAddress,
  mechanism: string,
): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const said = attempts === 1 ? error.message : `${error.message} (${attempts} attempts)`;
  const fault = (text: string): Error => new Error(text, { cause: error });
  const where = brokers.join(', ');
  switch (typeOf(error)) {
    case 'UNKNOWN_TOPIC_OR_PARTITION':
      return fault(
        `there is no topic "${topic}" at ${where}: create it first (kafka-topics.sh --create --topic ${topic})`,
      );
    case 'TOPIC_AUTHORIZATION_FAILED':
      return fault(`the user may not write to the topic "${topic}": grant Describe and Write on it`);
    case 'CLUSTER_AUTHORIZATION_FAILED':
      return fault(`the user may not write by an idempotent producer: grant IdempotentWrite on the cluster`);
  }
  switch (rootOf(error).name) {
    case 'KafkaJSSASLAuthenticationError':
      return fault(`${where} did not take name and password by ${mechanism}: ${said}`);
    case 'KafkaJSConnectionClosedError':
      return fault(`${where} closed the connection: ${said}${isTls ? '' : '; is it a port for TLS (kafka+ssl://)?'}`);
    case 'KafkaJSConnectionError':
      return fault(`no broker of ${where} can be reached: ${said}`);
    default:
      return fault(`${where}, topic "${topic}": ${said}`);
  }
}
