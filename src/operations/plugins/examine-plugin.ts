// operations/plugins/: which plugins are in force, and the exam of one.
import { CrawlError } from '../../domain/errors.ts';
import { kindOfPlugin, type PluginKind } from '../../plugin-host/api/plugin-api.ts';
import { type OwnTests, runOwnTests } from '../../plugin-host/loading/own-tests.ts';
import { importPlugin, resolvePlugin, textOf } from '../../plugin-host/loading/resolve-plugin.ts';

export interface PluginExam {
  readonly name: string;
  readonly kind: PluginKind;
  readonly file: string;
  /** Tests beside the plugin; `null`: there are none. */
  readonly tests: OwnTests | null;
}

/**
 * Runs the contract test of its kind (`incrawl/plugin-testing`) on a plugin, listed or not. Rejects with
 * `CrawlError('plugin-broken')`, whose message has the expected and the actual value. Then the tests that lie beside it
 * are run, whose result is in the answer.
 * @param given `bodies`: further pages for parsers, parse filters and signatures
 */
export async function examinePlugin(
  name: string,
  given: {
    readonly baseDir: string;
    readonly options?: Readonly<Record<string, unknown>>;
    readonly bodies?: readonly string[];
  },
): Promise<PluginExam> {
  const { baseDir, options = {}, bodies = [] } = given;
  const entry = { use: name, options, where: 'plugins test' };
  const resolved = resolvePlugin(entry, baseDir);
  const definition = await importPlugin(resolved, entry);
  const { testPlugin } = await import('../../plugin-host/api/plugin-testing.ts');
  try {
    await testPlugin(definition, { options, bodies });
  } catch (error) {
    throw new CrawlError('plugin-broken', `${name} fails the exam of its kind: ${textOf(error)}`, { cause: error });
  }
  const tests = resolved.bundled ? null : await runOwnTests(resolved.file);
  return { name: definition.name, kind: kindOfPlugin(definition.name), file: resolved.file, tests };
}
