import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram, programFor } from '../../../src/cli/commands/all-commands.ts';
import { NO_STOPS } from '../../support/program.ts';

/** Everything that `--help` prints for a command, the text after the options included. */
function helpOf(command: Command): string {
  let text = '';
  const writeOut = (part: string): void => {
    text += part;
  };
  command.configureOutput({ writeOut });
  command.outputHelp();
  return text;
}

const stream = new PassThrough() as unknown as NodeJS.WriteStream;
const surroundings = { argv: [], env: {}, stdin: () => process.stdin, stdout: stream, stderr: stream, stops: NO_STOPS };
const program = (await createProgram(surroundings)).command;
const withChildren = (command: Command): Command[] => [command, ...command.commands.flatMap(withChildren)];
const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
const commands = withChildren(program).map((command) => ({ name: nameOf(command), command }));

describe('help', () => {
  it('knows the commands that are a contract', () => {
    expect(program.commands.map((command) => command.name()).sort()).toEqual(
      // biome-ignore format: one list
      ['changes', 'check', 'completion', 'config', 'cookies', 'crawl', 'ctl', 'db', 'dedup', 'demo', 'diff', 'due', 'duplicates', 'explain', 'export', 'fetch', 'forecast', 'generate', 'help', 'init', 'inject', 'mirror', 'mr', 'packages', 'parse', 'partitions', 'plugins', 'readdb', 'readseg', 'reparse', 'schedule', 'serve', 'skipped', 'state', 'top', 'updatedb', 'watch', 'work'],
    );
    const optionsOf = (name: string): (string | undefined)[] =>
      commands.find((each) => each.name === name)?.command.options.map((option) => option.long) ?? [];
    expect(optionsOf('incrawl')).toEqual(
      expect.arrayContaining(['--config', '--dir', '--json', '--quiet', '--verbose', '--define']),
    );
    expect(optionsOf('incrawl crawl')).toEqual(
      expect.arrayContaining(['--rounds', '--top-n', '--delay', '--allow', '--contact']),
    );
    expect(optionsOf('incrawl fetch')).toEqual(expect.arrayContaining(['--parse', '--delay', '--allow', '--contact']));
    expect(optionsOf('incrawl inject')).toEqual(['--mode', '--update', '--overwrite', '--dry-run']);
    expect(optionsOf('incrawl generate')).toEqual(
      // biome-ignore format: one list
      ['--top-n', '--max-per-host', '--max-per-domain', '--min-score', '--min-interval', '--status', '--where', '--add-days', '--budget', '--from', '--filter', '--normalize', '--dry-run'],
    );
    expect(optionsOf('incrawl updatedb')).toEqual([
      '--no-additions',
      '--purge-gone',
      '--orphans',
      '--readmit-links',
      '--dry-run',
    ]);
    expect(optionsOf('incrawl readdb')).toEqual(
      // biome-ignore format: one list
      expect.arrayContaining(['--stats', '--url', '--dump', '--top-n', '--host', '--status', '--due', '--limit', '--format']),
    );
    expect(optionsOf('incrawl readseg')).toEqual(expect.arrayContaining(['--list', '--get', '--dump']));
    for (const kind of ['url', 'parse', 'robots', 'sitemap'])
      expect(optionsOf(`incrawl check ${kind}`)).toContain('--stdin');
    expect(optionsOf('incrawl config')).toContain('--origin');
    expect(optionsOf('incrawl export')).toEqual(expect.arrayContaining(['--format', '--output']));
  });

  it('of the program fits one screen, and has each command in one line', () => {
    const lines = helpOf(program).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const named = lines.flatMap((line) => /^ {2}([a-z-]+(?:, [a-z-]+)*) {2}/.exec(line)?.[1]?.split(', ') ?? []);
    expect(named.sort()).toEqual(program.commands.map((command) => command.name()).sort());
    const help = program.commands.find((command) => command.name() === 'help')!;
    const [, topics = ''] = /topic: (.*)\./.exec(help.description()) ?? [];
    expect(lines.join('\n')).toContain(`explains ${topics}.`);
  });

  it.each([
    [['due', 'touch'], ['due touch']],
    [['due'], ['due touch', 'due retry', 'due sitemap']],
    [
      ['due', '--dir', 'crawldb', 'retry'],
      ['due touch', 'due retry', 'due sitemap'],
    ],
    [['crawl', 'due'], ['crawl']],
  ])('of a call %j nothing else is loaded', async (argv, expected) => {
    const { command } = await programFor({ ...surroundings, argv });
    const leaves = withChildren(command).filter((each) => each.commands.length === 0);
    expect(leaves.map((each) => nameOf(each).replace('incrawl ', ''))).toEqual(expected);
  });

  it.each(commands)('$name says what it does, and shows an example that is itself', ({ name, command }) => {
    const help = helpOf(command);
    expect(command.description()).toMatch(/\.$/);
    expect(help).toMatch(/\nExamples?:\n/);
    expect(help.split(/\nExamples?:\n/)[1]).toContain(`${name}${name === 'incrawl' ? ' ' : ''}`);
    for (const option of command.options) expect(option.description, `${name} ${option.flags}`).not.toBe('');
  });

  it.each(commands.filter(({ command }) => command.commands.length === 0))(
    '$name: the options in its examples exist',
    ({ name, command }) => {
      const known = new Set([...command.options, ...program.options].flatMap((option) => [option.long, option.short]));
      const examples = helpOf(command).split(/\nExamples?:\n/)[1] ?? '';
      for (const line of examples.split('\n').filter((each) => each.includes(name))) {
        for (const [option] of line
          .slice(line.indexOf(name))
          .split('&&')[0]
          ?.matchAll(/(?<= )--?[a-z][a-z-]*/gi) ?? []) {
          expect(known, `${option} in "${line.trim()}"`).toContain(option);
        }
      }
    },
  );
});
