import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadPackage } from 'incrawl/bundled';
import { unknownIdentity } from '../../../site/tls-identity.ts';

/** Folder of the jars of a Kafka, such as `libs` of an unpacked one, or what `pom.xml` beside this file brings. */
const JARS = process.env.INCRAWL_TEST_KAFKA ?? '';

/** `null` where a broker can run, else why it cannot. */
export const NO_KAFKA: string | null = reason();

function reason(): string | null {
  if (JARS === '' || !existsSync(JARS)) return 'INCRAWL_TEST_KAFKA names no folder with the jars of a Kafka';
  if (spawnSync('java', ['-version']).error !== undefined) return 'java is not installed';
  try {
    loadPackage('kafka', 'the test');
    return null;
  } catch {
    return 'incrawl packages install kafka was not run';
  }
}

export const USER = { name: 'crawler', password: 'secret of the crawler' };

export interface KafkaBroker {
  /** `127.0.0.1:PORT` of the listeners: without TLS and password, with SCRAM-SHA-256, with TLS and PLAIN. */
  readonly plain: string;
  readonly scram: string;
  readonly tls: string;
  /** Creates a topic. */
  topic(name: string, settings?: { readonly partitions?: number; readonly maxBytes?: number }): Promise<void>;
  /** All that a topic holds, partition by partition. */
  messages(topic: string): Promise<ReadMessage[]>;
  kill(): Promise<void>;
  /** Starts it again where it was, with what was stored. */
  again(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReadMessage {
  readonly partition: number;
  readonly key: string;
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The part of kafkajs that tests use. */
interface KafkaJs {
  readonly Kafka: new (
    options: object,
  ) => {
    admin(): {
      connect(): Promise<void>;
      createTopics(of: object): Promise<unknown>;
      fetchTopicOffsets(topic: string): Promise<readonly { readonly high: string; readonly low: string }[]>;
      disconnect(): Promise<void>;
    };
    consumer(options: object): {
      connect(): Promise<void>;
      subscribe(of: object): Promise<void>;
      run(how: { eachMessage(got: GotMessage): Promise<void> }): Promise<void>;
      disconnect(): Promise<void>;
    };
  };
}

interface GotMessage {
  readonly partition: number;
  readonly message: {
    readonly key: Buffer;
    readonly value: Buffer | null;
    readonly headers: Readonly<Record<string, Buffer>>;
  };
}

/** One broker, which is its own controller, with a folder of its own; it ends with this process at the latest. */
export async function startKafka(): Promise<KafkaBroker> {
  const root = mkdtempSync(join(tmpdir(), 'incrawl-kafka-'));
  const [plain, scram, tls, controller] = (await freePorts(4)).map((port) => `127.0.0.1:${port}`) as Four;
  const settings = join(root, 'server.properties');
  const identity = join(root, 'identity.pem');
  writeFileSync(identity, unknownIdentity.key + unknownIdentity.cert);
  writeFileSync(settings, properties(root, identity, [plain, scram, tls, controller]));
  const user = `SCRAM-SHA-256=[name=${USER.name},password=${USER.password}]`;
  const format = ['kafka.tools.StorageTool', 'format', '-t', 'MkU3OEVBNTcwNTJENDM2Qg', '-c', settings, '-S', user];
  const formatted = spawnSync('java', ['-cp', `${JARS}/*`, ...format], { encoding: 'utf8' });
  if (formatted.status !== 0) throw new Error(`Kafka was not set up: ${formatted.stdout}${formatted.stderr}`);

  const start = async (): Promise<ChildProcess> => {
    const started = spawn('java', ['-Xmx256m', '-cp', `${JARS}/*`, 'kafka.Kafka', settings], { stdio: 'ignore' });
    await listening(Number(plain.split(':')[1]), started);
    return started;
  };
  let readers = 0;
  let child = await start();
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  const { Kafka } = loadPackage('kafka', 'the test').module as KafkaJs;
  const client = new Kafka({ clientId: 'test', brokers: [plain], logLevel: 0 });
  const asAdmin = async <T>(ask: (admin: ReturnType<typeof client.admin>) => Promise<T>): Promise<T> => {
    const admin = client.admin();
    await admin.connect();
    return ask(admin).finally(() => admin.disconnect());
  };
  return {
    plain,
    scram,
    tls,
    kill,
    topic: async (topic, { partitions = 3, maxBytes } = {}) => {
      const configEntries = [
        { name: 'cleanup.policy', value: 'compact' },
        ...(maxBytes === undefined ? [] : [{ name: 'max.message.bytes', value: String(maxBytes) }]),
      ];
      await asAdmin((admin) =>
        admin.createTopics({ topics: [{ topic, numPartitions: partitions, configEntries }], waitForLeaders: true }),
      );
    },
    messages: async (topic) => {
      const offsets = await asAdmin((admin) => admin.fetchTopicOffsets(topic));
      const all = offsets.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
      const found: ReadMessage[] = [];
      if (all === 0) return found;
      const consumer = client.consumer({ groupId: `test-${++readers}` });
      await consumer.connect();
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      await new Promise<void>((resolve, reject) => {
        consumer
          .run({
            async eachMessage({ partition, message: { key, value, headers } }) {
              const texts = Object.entries(headers).map(([name, text]) => [name, text.toString()]);
              found.push({
                partition,
                key: key.toString(),
                value: value?.toString() ?? null,
                headers: Object.fromEntries(texts),
              });
              if (found.length === all) resolve();
            },
          })
          .catch(reject);
      });
      await consumer.disconnect();
      return found.sort((a, b) => a.partition - b.partition);
    },
    again: async () => {
      child = await start();
    },
    stop: async () => {
      process.off('exit', endWithUs);
      await kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

type Four = [string, string, string, string];

function properties(root: string, identity: string, [plain, scram, tls, controller]: Four): string {
  const module = 'org.apache.kafka.common.security';
  const listeners = `PLAINTEXT://${plain},SASL_PLAINTEXT://${scram},SASL_SSL://${tls}`;
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@${controller}`,
    'controller.listener.names=CONTROLLER',
    `listeners=${listeners},CONTROLLER://${controller}`,
    `advertised.listeners=${listeners}`,
    'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL',
    'listener.name.sasl_plaintext.sasl.enabled.mechanisms=SCRAM-SHA-256',
    `listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=${module}.scram.ScramLoginModule required;`,
    'listener.name.sasl_ssl.sasl.enabled.mechanisms=PLAIN',
    `listener.name.sasl_ssl.plain.sasl.jaas.config=${module}.plain.PlainLoginModule required user_${USER.name}="${USER.password}";`,
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${identity}`,
    `log.dirs=${join(root, 'data')}`,
    'auto.create.topics.enable=false',
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    '',
  ].join('\n');
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`Kafka ended with ${child.exitCode}`);
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isThere) return;
    await delay(100);
  }
}

/** All at once, so that none is given twice. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
