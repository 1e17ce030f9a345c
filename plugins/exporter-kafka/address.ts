/** Where messages go. */
export interface KafkaAddress {
  /** `host:port` of one broker or more; they name the others. */
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly isTls: boolean;
}

const FORM = 'kafka://host:9092,host2:9092/topic, or kafka+ssl://.. for TLS';
const BROKER = /^[a-z0-9._-]+:(\d{1,5})$/i;
/** What Kafka allows, apart from "." and "..". */
const TOPIC = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/;

/**
 * The target: `--output`, otherwise the option. Throws an `Error` unless it is `kafka://` or `kafka+ssl://` with
 * brokers and a topic, and nothing else.
 */
export function kafkaAddress(place: string | null, configured: string | undefined): KafkaAddress {
  const given = place ?? configured;
  if (given === undefined) throw new Error('an address is needed: give --output URL, or set the option url');
  const [, ssl, authority = '', topic = ''] = /^kafka(\+ssl)?:\/\/([^/]*)\/?(.*)$/.exec(given) ?? [];
  // No part of such an address is reported: the text before the @ is a secret.
  if (authority.includes('@')) throw new Error(`expected an address with no name and password in it: ${FORM}`);
  const brokers = authority.split(',');
  if (!brokers.every(isBroker)) throw new Error(`expected an address such as ${FORM}; got "${given}"`);
  if (!TOPIC.test(topic)) {
    throw new Error(`expected the name of a topic after the brokers (letters, digits, ".", "_", "-"), got "${given}"`);
  }
  return { brokers, topic, isTls: ssl !== undefined };
}

function isBroker(broker: string): boolean {
  const port = Number(BROKER.exec(broker)?.[1] ?? 0);
  return port >= 1 && port <= 65_535;
}
