// operations/plugins/: which plugins are in force, and the exam of one.
import { CrawlError } from '../../domain/errors.ts';
import { kindOfPlugin, type PluginKind } from '../../plugin-host/api/plugin-api.ts';
import { importPlugin, resolvePlugin, textOf } from '../../plugin-host/loading/resolve-plugin.ts';

export interface PluginExam {
  readonly name: string;
  readonly kind: PluginKind;
  readonly file: string;
}

/**
 * Runs the contract test of its kind (`incrawl/plugin-testing`) on a plugin, listed or not. Rejects with
 * `CrawlError('plugin-broken')`, whose message has the expected and the actual value.
 */
export async function examinePlugin(
  name: string,
  { baseDir, options = {} }: { readonly baseDir: string; readonly options?: Readonly<Record<string, unknown>> },
): Promise<PluginExam> {
  const entry = { use: name, options, where: 'plugins test' };
  const resolved = resolvePlugin(entry, baseDir);
  const definition = await importPlugin(resolved, entry);
  const { testPlugin } = await import('../../plugin-host/api/plugin-testing.ts');
  try {
    await testPlugin(definition, { options });
  } catch (error) {
    throw new CrawlError('plugin-broken', `${name} fails the exam of its kind: ${textOf(error)}`, { cause: error });
  }
  return { name: definition.name, kind: kindOfPlugin(definition.name), file: resolved.file };
}
