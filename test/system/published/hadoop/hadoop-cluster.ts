/** HDFS and YARN of a real Hadoop on this machine, in one process, and jobs of Hadoop Streaming on them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Folder of the jars that `pom.xml` beside this file brings. */
const JARS = process.env.INCRAWL_TEST_HADOOP ?? '';

/** `null` where a cluster can run, else why it cannot. */
export const NO_HADOOP: string | null =
  JARS === '' || !existsSync(JARS)
    ? 'INCRAWL_TEST_HADOOP names no folder with the jars of a Hadoop'
    : spawnSync('java', ['-version']).error !== undefined
      ? 'java is not installed'
      : null;

const START_MS = 240_000;
/** Megabytes of the process with HDFS and YARN; of a task, its JVM and its Node; of all tasks together. */
const [SERVER_MB, TASK_MB, TASKS_MB] = [768, 768, 2_304];
const JAVA = ['--add-opens', 'java.base/java.lang=ALL-UNNAMED', '-XX:+UseSerialGC'];

export interface StreamingJob {
  /** Folder of HDFS with the input, and the one that the job makes. */
  readonly input: string;
  readonly output: string;
  readonly mapper: string;
  readonly reducer: string;
  readonly reducers: number;
  /** A file of this machine that every mapper gets. */
  readonly file?: string;
}

export interface MiniCluster {
  /** A command of `hadoop fs`. */
  fs(...args: readonly string[]): Promise<void>;
  run(job: StreamingJob): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a cluster of one node; its configuration is its client's as well.
 * @param folder existing, for all that the cluster writes
 */
export async function startCluster(folder: string): Promise<MiniCluster> {
  const [site, tmp] = [join(folder, 'site'), join(folder, 'tmp')];
  mkdirSync(site);
  mkdirSync(tmp);
  const ports = await freePorts();
  const [nameNode, manager, scheduler, tracker, admin, web, history, historyWeb, historyAdmin, shuffle] = ports;
  writeSite(join(site, 'core-site.xml'), {
    'fs.defaultFS': `hdfs://localhost:${nameNode}`,
    'hadoop.tmp.dir': tmp,
  });
  writeSite(join(site, 'hdfs-site.xml'), { 'dfs.replication': 1 });
  writeSite(join(site, 'yarn-site.xml'), {
    'yarn.is.minicluster': true,
    'yarn.minicluster.fixed.ports': true,
    'yarn.minicluster.yarn.nodemanager.resource.memory-mb': TASKS_MB,
    'yarn.resourcemanager.hostname': 'localhost',
    'yarn.resourcemanager.address': `localhost:${manager}`,
    'yarn.resourcemanager.scheduler.address': `localhost:${scheduler}`,
    'yarn.resourcemanager.resource-tracker.address': `localhost:${tracker}`,
    'yarn.resourcemanager.admin.address': `localhost:${admin}`,
    'yarn.resourcemanager.webapp.address': `localhost:${web}`,
    'yarn.nodemanager.resource.memory-mb': TASKS_MB,
    'yarn.nodemanager.vmem-check-enabled': false,
    'yarn.nodemanager.disk-health-checker.enable': false,
    'yarn.nodemanager.aux-services': 'mapreduce_shuffle',
    'yarn.scheduler.minimum-allocation-mb': 256,
    'yarn.application.classpath': `${site},${JARS}/*`,
  });
  const heap = `-Xmx256m ${JAVA.join(' ')}`;
  writeSite(join(site, 'mapred-site.xml'), {
    'mapreduce.framework.name': 'yarn',
    'mapreduce.jobhistory.address': `localhost:${history}`,
    'mapreduce.jobhistory.webapp.address': `localhost:${historyWeb}`,
    'mapreduce.jobhistory.admin.address': `localhost:${historyAdmin}`,
    'mapreduce.shuffle.port': shuffle!,
    'mapreduce.task.io.sort.mb': 32,
    'mapreduce.map.memory.mb': TASK_MB,
    'mapreduce.map.java.opts': heap,
    'mapreduce.reduce.memory.mb': TASK_MB,
    'mapreduce.reduce.java.opts': heap,
    'yarn.app.mapreduce.am.resource.mb': 512,
    'yarn.app.mapreduce.am.command-opts': heap,
    'yarn.app.mapreduce.am.staging-dir': '/staging',
  });
  writeFileSync(
    join(site, 'log4j.properties'),
    `log4j.rootLogger=WARN,err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%p %c{1}: %m%n
`,
  );
  let runs = 0;
  const java = (megabytes: number, args: readonly string[]): Started => {
    const log = join(folder, `${runs++}.log`);
    const out = openSync(log, 'w');
    const all = [`-Xmx${megabytes}m`, ...JAVA, `-Djava.io.tmpdir=${tmp}`, `-Dtest.build.data=${join(tmp, 'dfs')}`];
    const child = spawn('java', [...all, '-cp', `${site}:${JARS}/*`, ...args], {
      cwd: folder,
      stdio: ['ignore', out, out],
    });
    return { child, log };
  };
  const client = async (main: string, args: readonly string[]): Promise<void> => {
    const { child, log } = java(256, [main, ...args]);
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${main} ${args.join(' ')} ended with ${code}:\n${lastOf(log)}`);
  };
  const details = join(folder, 'details.json');
  const main = 'org.apache.hadoop.mapreduce.MiniHadoopClusterManager';
  const places = ['-nnport', nameNode, '-rmport', manager, '-jhsport', history].map(String);
  const server = java(SERVER_MB, [main, '-format', ...places, '-writeDetails', details]);
  await started(server, details);
  return {
    fs: (...args) => client('org.apache.hadoop.fs.FsShell', args),
    run: ({ input, output, mapper, reducer, reducers, file }) =>
      client('org.apache.hadoop.streaming.HadoopStreaming', [
        ...(file === undefined ? [] : ['-files', `file://${file}`]),
        '-D',
        `mapreduce.job.reduces=${reducers}`,
        ...['-input', input, '-output', output, '-mapper', mapper, '-reducer', reducer],
      ]),
    stop: () => ended(server.child),
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly log: string;
}

async function started({ child, log }: Started, details: string): Promise<void> {
  const until = Date.now() + START_MS;
  while (!existsSync(details)) {
    if (child.exitCode !== null || Date.now() > until) {
      await ended(child);
      throw new Error(`the cluster did not start:\n${lastOf(log)}`);
    }
    await delay(500);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  const force = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await exit;
  clearTimeout(force);
}

const lastOf = (log: string): string => readFileSync(log, 'utf8').slice(-3_000);

function writeSite(file: string, values: Readonly<Record<string, string | number | boolean>>): void {
  const properties = Object.entries(values).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  writeFileSync(file, `<configuration>\n${properties.join('\n')}\n</configuration>\n`);
}

/** Ten ports that were free a moment ago. */
async function freePorts(): Promise<number[]> {
  const servers = Array.from({ length: 10 }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
