import type { Command } from 'commander';
import { settingsForUrl } from '../../../core/config/hosts/settings-for-url.ts';
import type { Origin } from '../../../core/config/resolve.ts';
import { withoutPassword } from '../../../core/config/store-url.ts';
import { canonicalUrl } from '../../../core/domain/url/canonical/canonical-url.ts';
import { ANY_LENGTH, table } from '../../../render/table.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

export function addConfig(program: Command, run: Run): void {
  const command = program
    .command('config')
    .description('Print the configuration in effect: defaults, then the file, then the command line.')
    .option(
      '--origin [url]',
      'also the source of each value: default, file:line:column, or an option; with a URL, what "hosts:" sets for it',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl config --origin -D fetch.delay=2s\n  incrawl config --origin https://shop.example.org/members/',
    );
  command.action((flags: { readonly origin?: true | string }) =>
    run(command, (session) =>
      typeof flags.origin === 'string' ? writeForUrl(session, flags.origin) : writeAll(session, flags.origin === true),
    ),
  );
}

async function writeAll(session: Session, withOrigin: boolean): Promise<void> {
  const origins = [...session.loaded.origins].map(
    ([key, each]) => [key, { ...each, value: forShow(each.value) }] as const,
  );
  const entries = origins.map(([key, each]) => [key, withOrigin ? each : each.value]);
  await writeAnswer(session, Object.fromEntries(entries), () => settingTable(session, origins, withOrigin));
}

/** The settings of `hosts:` for one URL. Secrets are shown only by their source. */
async function writeForUrl(session: Session, typed: string): Promise<void> {
  const canonical = canonicalUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`);
  if ('error' in canonical) session.refuse(`${typed}: ${canonical.error}; expected a URL such as https://example.org/`);
  const { url } = canonical as { url: string };
  const { config, origins } = session.loaded;
  const { entry, hostEntry, settings, withheld } = settingsForUrl(config, origins, url);
  const shown = [...settings].map(([key, each]) => [key, { ...each, value: forShow(each.value) }] as const);
  const answer = { url, entry, hostEntry, settings: Object.fromEntries(shown), withheld };
  const of = (name: string): string => {
    const { value, origin } = origins.get(name) as Origin;
    return `${name} (${(value as { readonly match: string }).match}), ${origin}`;
  };
  await writeAnswer(session, answer, () => {
    const decides = entry === null ? 'no entry of "hosts:" matches it' : `${of(entry)} decides`;
    const lane =
      hostEntry === null || hostEntry === entry ? '' : `; delay, connections and fetches a day by ${of(hostEntry)}`;
    const kept =
      withheld.length === 0
        ? ''
        : `Not sent, as the URL is http: ${withheld.map(withheldPart).join(', ')}. ` +
          `"secretsOverHttp: true" in ${entry} sends them.\n`;
    const inForce = shown.map(([key, each]) => {
      return [key, withheld.includes(key) ? { ...each, withheld: withheldPart(key) } : each] as const;
    });
    return `${url}: ${decides}${lane}\n${kept}${settingTable(session, inForce, true)}`;
  });
}

/** Only the secret ones of the headers are withheld. */
const withheldPart = (key: string): string => (key === 'headers' ? 'secret headers' : key);

interface Setting {
  readonly value: unknown;
  readonly origin: string;
  /** The withheld part; absent: nothing. */
  readonly withheld?: string;
}

type Shown = readonly (readonly [string, Setting])[];

function settingTable(session: Session, settings: Shown, withOrigin: boolean): string {
  const rows = settings.map(([key, { value, origin, withheld }]) => {
    const mark = withheld === undefined ? '' : `withheld${withheld === key ? '' : ` (${withheld})`}: `;
    return { key, value: mark + inYaml(value), origin };
  });
  return table(
    [
      { title: 'key', cell: (row) => row.key },
      { title: 'value', max: ANY_LENGTH, cell: (row) => row.value },
      ...(withOrigin ? [{ title: 'from', cell: (row: (typeof rows)[number]) => row.origin }] : []),
    ],
    rows,
    session,
  );
}

function forShow(value: unknown): unknown {
  return typeof value === 'string' ? withoutPassword(value) : value;
}

function inYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inYaml).join(', ')}]`;
  if (value !== null && typeof value === 'object') {
    const pairs = Object.entries(value).map(([key, each]) => `${key}: ${inYaml(each)}`);
    return `{ ${pairs.join(', ')} }`;
  }
  return value === '' ? "''" : String(value);
}
