// docs/papers.md from scripts/papers.json: what the published systems behind incrawl ask for, and where it is.
import { readFileSync } from 'node:fs';

const HEAD = `# The published systems, row by row

incrawl is built on five published systems. This page lists what each of them asks for, where that is in the code, the
command by which it is seen, and whether it is on. It is made of \`scripts/papers.json\` by \`npm run docs\`; a test
checks that files, names, commands, options, keys and plugins exist.

A key is set in \`conf/incrawl.yaml\`, a plugin line stands in \`conf/plugins.yaml\` in place of the plugin's line there.`;

const code = (text) => `\`${text}\``;

const codeCell = (places) =>
  places
    .map((place) => {
      const [path, name] = place.split('#');
      return `[${code(name)}](../${path})`;
    })
    .join(', ');

const seenCell = (see) =>
  see
    .split('; ')
    .map((command) => code(`incrawl ${command}`))
    .join(', ');

const valueText = (value) => (Array.isArray(value) ? `[${value.map(String).join(', ')}]` : String(value));

function onCell(on) {
  if (on.asked) return 'when asked';
  if (on.default) {
    const by = [on.plugin === undefined ? [] : code(on.plugin), on.option ?? on.key ?? []].flat();
    return by.length === 0 ? 'yes' : `yes: ${by.map((name) => (name.startsWith('`') ? name : code(name))).join(', ')}`;
  }
  if (on.key !== undefined) return code(`${on.key}: ${on.value}`);
  return code(on.option === undefined ? `- ${on.plugin}` : `- ${on.plugin}: { ${on.option}: ${valueText(on.value)} }`);
}

/** The data: papers, and rows as `{id, what, code, see, on}`. */
export const papers = JSON.parse(readFileSync(new URL('papers.json', import.meta.url), 'utf8'));

export function papersPage({ papers: systems, rows } = papers) {
  const parts = systems.map(({ id, title, source, about }) => {
    const own = rows.filter((row) => row.id.startsWith(`${id}.`));
    const lines = own.map(
      ({ id, what, code: places, see, on }) =>
        `| ${id} | ${what} | ${codeCell(places)} | ${seenCell(see)} | ${onCell(on)} |`,
    );
    return [
      `## ${id}: ${about}`,
      '',
      `${title} (${source}).`,
      '',
      '| row | what | code | seen by | on |',
      '|---|---|---|---|---|',
      ...lines,
    ].join('\n');
  });
  return `${HEAD}\n\n${parts.join('\n\n')}\n`;
}
