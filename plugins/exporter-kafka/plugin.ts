import { setTimeout as delay } from 'node:timers/promises';
import { definePlugin, type PluginHost, pauseMs } from 'incrawl/plugin';
import { z } from 'zod';
import { type KafkaAddress, kafkaAddress } from './address.ts';
import { type ClientOptions, type KafkaJs, type KafkaProducer, loadKafkaJs } from './client.ts';
import { faultOf, isUnknownTopic, mayPass } from './faults.ts';
import { type KafkaMessage, pageMessage, removalMessage } from './messages.ts';
import { KafkaSender } from './sender.ts';

const options = z.strictObject({
  url: z
    .string()
    .optional()
    .describe(
      'Brokers and topic, `kafka://host:9092,host2:9092/topic`, `kafka+ssl://` for TLS; `--output` overrides it.',
    ),
  mechanism: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .default('plain')
    .describe('SASL mechanism where there are name and password; `plain` only over TLS.'),
  usernameEnv: z
    .string()
    .min(1)
    .default('INCRAWL_KAFKA_USERNAME')
    .describe('Environment variable with the name of the user.'),
  passwordEnv: z.string().min(1).default('INCRAWL_KAFKA_PASSWORD').describe('Environment variable with the password.'),
  caFile: z.string().min(1).optional().describe('Certificates (PEM) that brokers are checked by instead of the usual.'),
  certFile: z.string().min(1).optional().describe('Certificate (PEM) to show to brokers; goes with `keyFile`.'),
  keyFile: z.string().min(1).optional().describe('Private key (PEM) of the certificate in `certFile`.'),
  compression: z.enum(['gzip', 'none']).default('gzip').describe('Compression of batches.'),
  batchBytes: z
    .number()
    .int()
    .min(1)
    .default(1_000_000)
    .describe('Largest size of a batch before compression, bytes, unless one page is larger.'),
  batchPages: z.number().int().min(1).default(1_000).describe('Most pages in a batch.'),
  retries: z.number().int().min(0).default(8).describe('Retries after broken connections and errors that may pass.'),
  firstPauseMs: z
    .number()
    .int()
    .min(0)
    .default(500)
    .describe('Pause before the first retry, doubled with each further one, ms.'),
  timeoutMs: z.number().int().min(1).default(30_000).describe('Time-out of a request, ms.'),
});
type Options = z.infer<typeof options>;

/** Longest time in which a connection is made, ms. */
const CONNECTION_TIMEOUT_MS = 10_000;

export default definePlugin<'exporter', Options>({
  name: 'exporter-kafka',
  api: 1,
  options,
  setup: (host, given) => ({
    format: 'kafka',
    fileExtension: 'json',
    ...(given.url === undefined && { needsPlace: 'brokers and a topic: kafka://host:9092/topic' }),
    async open({ place }) {
      const address = kafkaAddress(place, given.url);
      // Options are rejected whether or not the package is installed.
      const settings = clientOptions(host, given, address);
      const sender = await openSender(loadKafkaJs(), settings, given, address);
      return {
        document: (document) => sender.add(pageMessage(document)),
        removed: (page) => sender.add(removalMessage(page)),
        async close() {
          await sender.flush();
          await sender.disconnect();
          if (sender.refused > 0) throw new Error(refusal(sender, address));
        },
        abandon: () => sender.disconnect(),
      };
    },
  }),
});

/** Connects once the topic is known to exist: a producer would wait for it through all retries. */
async function openSender(
  { Kafka, Partitioners, CompressionTypes, logLevel }: KafkaJs,
  settings: Omit<ClientOptions, 'logLevel'>,
  given: Options,
  address: KafkaAddress,
): Promise<KafkaSender> {
  const { batchBytes, batchPages: batchMessages, timeoutMs: timeout } = given;
  const { topic } = address;
  const compression = given.compression === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None;
  const kafka = new Kafka({ ...settings, logLevel: logLevel.ERROR });
  const patiently = <T>(attempt: () => Promise<T>): Promise<T> => retried(attempt, given, address);
  const admin = kafka.admin();
  const lookUp = async (): Promise<void> => {
    await admin.connect();
    await admin.fetchTopicMetadata({ topics: [topic] });
  };
  try {
    await retried(lookUp, given, address, (error) => mayPass(error) && !isUnknownTopic(error));
  } finally {
    await admin.disconnect();
  }
  const connect = async (): Promise<KafkaProducer> => {
    const producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await patiently(() => producer.connect());
    return producer;
  };
  const send = async (producer: KafkaProducer, messages: readonly KafkaMessage[]): Promise<void> => {
    await patiently(() => producer.send({ topic, messages, acks: -1, compression, timeout }));
  };
  return new KafkaSender({ batchBytes, batchMessages }, { connect, send }, await connect());
}

/** The client gives up at once if a broker that it knows is away: it is called again, and continues. */
async function retried<T>(
  attempt: () => Promise<T>,
  { retries, firstPauseMs, mechanism }: Options,
  address: KafkaAddress,
  isRetried: (error: unknown) => boolean = mayPass,
): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt();
    } catch (error) {
      if (failed >= retries || !isRetried(error)) throw faultOf(error, failed + 1, address, mechanism.toUpperCase());
    }
    await delay(pauseMs(failed, firstPauseMs, Math.random));
  }
}

function clientOptions(
  host: PluginHost,
  given: Options,
  { brokers, isTls }: KafkaAddress,
): Omit<ClientOptions, 'logLevel'> {
  const { caFile, certFile, keyFile, mechanism, firstPauseMs, timeoutMs } = given;
  if ((certFile === undefined) !== (keyFile === undefined)) throw new Error('certFile and keyFile go together');
  const [ca, cert, key] = [caFile, certFile, keyFile].map((file) => file && host.readTextFile(file));
  if (!isTls && (ca ?? cert) !== undefined) throw new Error('certificates need an address of kafka+ssl://');
  const username = process.env[given.usernameEnv] ?? '';
  const password = process.env[given.passwordEnv] ?? '';
  if ((username === '') !== (password === '')) {
    throw new Error(`name and password go together: ${given.usernameEnv} and ${given.passwordEnv}`);
  }
  if (username !== '' && mechanism === 'plain' && !isTls) {
    throw new Error('mechanism plain sends the password as it is: take kafka+ssl://, or mechanism scram-sha-512');
  }
  return {
    clientId: host.agent,
    brokers,
    ssl: isTls && { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
    ...(username !== '' && { sasl: { mechanism, username, password } }),
    connectionTimeout: Math.min(timeoutMs, CONNECTION_TIMEOUT_MS),
    authenticationTimeout: Math.min(timeoutMs, CONNECTION_TIMEOUT_MS),
    requestTimeout: timeoutMs,
    // An idempotent producer requires at least one.
    retry: { retries: 1, initialRetryTime: firstPauseMs, maxRetryTime: firstPauseMs },
    logCreator: () => warnOnce(host),
  };
}

/**
 * The client logs each attempt: once is enough to know what it is waiting for. Refused requests are reported by the
 * error that they end in.
 */
function warnOnce({ log }: PluginHost): ReturnType<ClientOptions['logCreator']> {
  const said = new Set<string>();
  return ({ log: { message } }) => {
    if (!/^Connection (error|timeout)/.test(message) || said.has(message)) return;
    said.add(message);
    log.warn(message);
  };
}

const refusal = ({ refused, examples }: KafkaSender, { topic }: KafkaAddress): string =>
  `${refused === 1 ? '1 page is' : `${refused} pages are`} too large for the topic "${topic}", the others are there: ${examples.join(', ')}. ` +
  'Raise max.message.bytes of the topic';
