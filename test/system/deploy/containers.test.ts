import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { type Packed, packIncrawl, sh } from '../integration/installed.ts';
import { stagesOf, wordsOf } from './dockerfile.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const stages = stagesOf(textOf('Dockerfile'));
const PATIENCE_MS = 300_000;

interface Service {
  readonly command: readonly string[];
  readonly user: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}
interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly livenessProbe?: { readonly exec: { readonly command: readonly string[] } };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
}

const compose = parse(textOf('deploy/compose.yaml'), { merge: true }) as { services: Record<string, Service> };
const objects = parseAllDocuments(textOf('deploy/kubernetes.yaml')).map((each) => {
  expect(each.errors).toEqual([]);
  return each.toJS() as { kind: string; metadata: { name: string }; spec: Record<string, never> };
});
const deployment = objects.find(({ kind }) => kind === 'Deployment')!.spec as unknown as {
  readonly replicas: number;
  readonly strategy: { readonly type: string };
  readonly template: {
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly securityContext: Readonly<Record<string, unknown>>;
      readonly containers: readonly Container[];
      readonly volumes: readonly { readonly name: string }[];
    };
  };
};
const pod = deployment.template.spec;

describe('Dockerfile', () => {
  const last = stages.at(-1)!;
  const stepsNamed = (name: string): string[] =>
    last.steps.filter((each) => each.name === name).map(({ text }) => text);

  it('builds in stages of one image; the last one has no sources, and a user without rights', () => {
    for (const { from } of stages) expect(from).toMatch(/^\$\{NODE_IMAGE\}/);
    expect(stages).toHaveLength(3);
    expect(stepsNamed('USER')).toEqual(['1000:1000']);
    expect(stepsNamed('COPY')).toEqual(['--from=program /opt/incrawl /opt/incrawl']);
    const order = last.steps.map(({ name }) => name);
    expect(order.lastIndexOf('RUN')).toBeLessThan(order.indexOf('USER'));
    expect(order.lastIndexOf('RUN')).toBeLessThan(order.indexOf('VOLUME'));
    expect(textOf('Dockerfile')).not.toMatch(/registry|https?:|--registry/);
  });

  it('has a context with all that the build reads, and no state, history or packages', () => {
    const listed = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(listed.filter((name) => !readdirSync(ROOT).includes(name))).toEqual([]);
    for (const name of ['node_modules', 'dist', 'crawldb', '.git', '.ci']) expect(listed).not.toContain(name);
    const { include } = JSON.parse(textOf('tsconfig.build.json')) as { include: string[] };
    expect(include.map((each) => each.split('/')[0]).filter((each) => !listed.includes(each!))).toEqual([]);
    const { files } = JSON.parse(textOf('package.json')) as { files: string[] };
    const packedNames = files.filter((name) => !name.startsWith('!') && !name.startsWith('dist/'));
    expect(packedNames.filter((name) => !listed.includes(name))).toEqual([]);
  });
});

describe('the steps of the Dockerfile in a folder', { timeout: PATIENCE_MS }, () => {
  let packed: Packed;
  beforeAll(async () => {
    packed = await packIncrawl();
  }, PATIENCE_MS);
  afterAll(() => packed.close(), PATIENCE_MS);

  it('lead to a program that starts by its entry point, from the archive that npm packs', async () => {
    const root = packed.folder('image');
    const own = (text: string): string =>
      text.replace(/(?<![\w./-])\/(?=archive|opt|crawl|usr\/local\/bin)/g, `${root}/`);
    for (const folder of ['archive', 'bin', 'usr/local/bin']) mkdirSync(join(root, folder), { recursive: true });
    cpSync(packed.archive, join(root, 'archive', 'incrawl-0.0.0.tgz'));
    // There is no such user here, and none that may give files away.
    writeFileSync(join(root, 'bin/chown'), '#!/bin/sh\n', { mode: 0o755 });
    let env = packed.env();
    env.PATH = [join(root, 'bin'), join(root, 'usr/local/bin'), env.PATH].join(':');
    let cwd = root;
    for (const { steps } of stages.slice(1)) {
      for (const { name, text } of steps) {
        if (name === 'WORKDIR') {
          cwd = own(text);
          mkdirSync(cwd, { recursive: true });
        }
        if (name === 'ENV') {
          const pairs = text.split(' ').map((pair) => pair.split('=') as [string, string]);
          env = { ...env, ...Object.fromEntries(pairs.map(([key, value]) => [key, own(value)])) };
        }
        if (name !== 'RUN') continue;
        const { code, output } = await sh(own(text), cwd, env);
        expect(code, `${text}: ${output}`).toBe(0);
      }
    }
    expect(readdirSync(join(root, 'crawl')).sort()).toEqual(['conf', 'crawldb', 'seeds']);
    const entry = wordsOf(stages.at(-1)!.steps.find(({ name }) => name === 'ENTRYPOINT')!.text).join(' ');
    const version = await sh(`${entry} --version`, cwd, env);
    expect(version).toMatchObject({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    symlinkSync(join(root, 'crawl/crawldb'), join(root, 'state'));
    // All commands of the images' files are ones that this program knows, with these options.
    const commands = [
      wordsOf(stages.at(-1)!.steps.find(({ name }) => name === 'CMD')!.text),
      ...Object.values(compose.services).map(({ command }) => command),
      ...pod.containers.map(({ args }) => args),
    ];
    for (const words of commands) {
      const known = await sh(`${entry} ${words.join(' ')} --help`, cwd, env);
      expect([known.code, words.join(' ')]).toEqual([0, words.join(' ')]);
      const options = words.filter((word) => word.startsWith('--'));
      expect(options.filter((option) => !known.output.includes(option))).toEqual([]);
    }
  });
});

describe('compose.yaml', () => {
  it('runs the crawl and its view on one state directory, without rights', () => {
    const services = Object.values(compose.services);
    expect(Object.keys(compose.services)).toEqual(['crawl', 'view']);
    for (const { user, read_only, cap_drop, volumes } of services) {
      expect([user, read_only, cap_drop]).toEqual(['1000:1000', true, ['ALL']]);
      expect(volumes).toContain('crawldb:/crawl/crawldb');
    }
    expect(compose.services.crawl!.healthcheck!.test).toEqual(['CMD', 'incrawl', 'schedule', '--status', '--json']);
  });
});

describe('kubernetes.yaml', () => {
  it('has one pod at a time, without rights, whose mounts are there', () => {
    expect(objects.map(({ kind }) => kind)).toEqual(['PersistentVolumeClaim', 'Deployment', 'Service']);
    expect([deployment.replicas, deployment.strategy.type]).toEqual([1, 'Recreate']);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
    const volumes = pod.volumes.map(({ name }) => name);
    for (const { securityContext, volumeMounts } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(volumeMounts.filter(({ name }) => !volumes.includes(name))).toEqual([]);
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain('/crawl/crawldb');
    }
    expect(pod.containers.map(({ readinessProbe }) => readinessProbe?.httpGet.path)).toContain('/healthz');
  });
});
