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
 * Puts a plugin through the exam of its kind (`incrawl/plugin-testing`), whether it is in the list or not.
 * Rejects with `CrawlError('plugin-broken')` that says what was promised and what came.
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
