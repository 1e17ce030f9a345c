import { Argument, type Command } from 'commander';
import { OPTIONAL_PACKAGES } from '../../../core/domain/optional-packages.ts';
import type { PackageInstall, PackageView } from '../../../crawler/views.ts';
import { safeText } from '../../../render/safe-text.ts';
import { ANY_LENGTH, type Column } from '../../../render/table.ts';
import type { Run } from '../../program/program.ts';
import { writeList, writeSummary } from '../../program/write-answer.ts';

/** Where the copy in use comes from. */
const PLACES: Readonly<Record<NonNullable<PackageView['installed']>['place'], string>> = {
  own: 'incrawl',
  project: 'project',
  folder: 'user',
};

const COLUMNS: readonly Column<PackageView>[] = [
  { title: 'name', cell: (row) => row.id },
  { title: 'package', cell: (row) => row.name },
  { title: 'needed for', max: ANY_LENGTH, rank: 2, cell: (row) => row.purpose },
  { title: 'installed', rank: 1, cell: (row) => row.installed?.version ?? 'no' },
  { title: 'from', rank: 3, cell: (row) => (row.installed === null ? '' : PLACES[row.installed.place]) },
];

export function addPackages(program: Command, run: Run): void {
  const packages = program
    .command('packages')
    .description('List and install optional packages.')
    .addHelpText('after', '\nExamples:\n  incrawl packages list\n  incrawl packages install duckdb');

  const list = packages
    .command('list', { isDefault: true })
    .description('The packages that only some users need: what for, and which copy is used.')
    .addHelpText('after', '\nExample:\n  incrawl packages list --json');
  list.action(() =>
    run(
      list,
      async (session) => {
        const { packageViews } = await import('../../../operations/packages/packages.ts');
        const views = packageViews();
        await writeList(session, views, COLUMNS, {});
        if (session.json) return;
        for (const { installed, faults } of views) {
          if (installed !== null) session.note(safeText(installed.folder));
          for (const fault of faults) session.note(safeText(`not used: ${fault}`));
        }
      },
      'when-asked',
    ),
  );

  const install = packages
    .command('install')
    .addArgument(new Argument('<name...>', 'names of the list').choices(OPTIONAL_PACKAGES.map(({ id }) => id)))
    .description(
      "Install optional packages by npm, in the versions that incrawl was tested with, into the user's folder " +
        '(INCRAWL_PACKAGES, or incrawl/packages in XDG_DATA_HOME or ~/.local/share).',
    )
    .option('--dry-run', 'only say what would be installed')
    .addHelpText('after', '\nExamples:\n  incrawl packages install duckdb\n  incrawl packages install pg ioredis');
  install.action((names: readonly PackageView['id'][], { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(
      install,
      async (session) => {
        const { installPackage, plannedInstall } = await import('../../../operations/packages/packages.ts');
        const packages: PackageInstall[] = [];
        for (const id of new Set(names)) {
          const { name, version, folder, outcome } = plannedInstall(id);
          if (outcome === 'installed' && !dryRun) session.note(`Installing ${name}@${version} by npm ...`);
          packages.push(dryRun ? { id, name, version, folder, outcome } : await installPackage(id));
        }
        const lines = packages.map((each) => `${safeText(lineOf(each, dryRun))}\n`);
        await writeSummary(session, { packages }, () => lines.join(''), dryRun);
      },
      'when-asked',
    ),
  );
}

function lineOf({ name, version, folder, outcome }: PackageInstall, dryRun: boolean): string {
  if (outcome === 'present') return `${name} ${version} is there already: ${folder}`;
  return `${dryRun ? 'would install' : 'installed'} ${name} ${version}: ${folder}`;
}
