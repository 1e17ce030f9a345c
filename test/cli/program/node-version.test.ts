import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nodeVersionFault, OLDEST_NODE } from '../../../src/cli/process/node-version.ts';

it.each([
  ['20.18.1', true],
  ['20.18.2', true],
  ['20.19.0', true],
  ['22.0.0', true],
  ['26.1.0-nightly2026', true],
  ['20.18.0', false],
  ['20.9.9', false],
  ['18.20.4', false],
  ['8.0.0', false],
])('Node %s: %s', (version, runs) => {
  const fault = `incrawl needs Node >= ${OLDEST_NODE}, this is ${version}`;
  expect(nodeVersionFault(version)).toBe(runs ? null : fault);
});

it('the oldest Node is the one that package.json names', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(engines.node).toBe(`>=${OLDEST_NODE}`);
});

it('the program imports nothing by name that an old Node could not link', () => {
  const built = readFileSync(new URL('../../../dist/src/cli/main.js', import.meta.url), 'utf8');
  expect([...built.matchAll(/^import .* from ['"](.*)['"];$/gm)].map(([, name]) => name)).toEqual([
    './process/node-version.js',
  ]);
  const version = readFileSync(new URL('../../../dist/src/cli/process/node-version.js', import.meta.url), 'utf8');
  expect(version).not.toMatch(/^import /m);
});
