import { type Command, Option } from 'commander';
import type { Override } from '../../config/override.ts';
import { collect } from './option-values.ts';

/** `--format` of commands that print lists. */
export const listFormatOption = (): Option =>
  new Option('--format <format>', 'of lists; --json prints one JSON array').choices(['table', 'jsonl', 'csv']);

/** `--scope` of commands that compare pages. */
export const scopeOption = (): Option =>
  new Option('--scope <scope>', 'compare pages within this scope; default: dedup.scope').choices([
    'host',
    'domain',
    'all',
  ]);

/** Short options for the settings that a first crawl needs. */
export function addNetworkOptions(command: Command): Command {
  return command
    .option('--delay <duration>', 'pause between requests to a host; 0 for your own servers (fetch.delay)')
    .addOption(
      new Option(
        '--allow <address>',
        'let the crawler reach this private address: host, host:port, IP, CIDR; repeatable',
      ).argParser(collect),
    )
    .option('--contact <mail-or-url>', 'how site owners reach you; sent with every request (agent.contact)');
}

/** The settings behind the options of {@link addNetworkOptions}, and behind `--pause` of crawl. */
export function settingOverrides(options: {
  readonly delay?: string;
  readonly allow?: readonly string[];
  readonly contact?: string;
  readonly pause?: string;
}): Override[] {
  const overrides: Override[] = [];
  const add = (key: string, value: unknown, origin: string): void => {
    if (value !== undefined) overrides.push({ key, value, origin });
  };
  add('fetch.delay', options.delay, '--delay');
  add('http.allowAddresses', options.allow, '--allow');
  add('agent.contact', options.contact, '--contact');
  add('crawl.pause', options.pause, '--pause');
  return overrides;
}
