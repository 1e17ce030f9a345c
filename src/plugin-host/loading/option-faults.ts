import type { z } from 'zod';
import { closestName } from '../../domain/closest-name.ts';

export interface OptionFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Options validated by a plugin's schema, or their faults. Throws where the schema itself is invalid. */
export function readOptions<Options>(
  schema: unknown,
  given: Readonly<Record<string, unknown>>,
): { readonly options: Options } | { readonly faults: readonly OptionFault[] } {
  // It comes from a file: its type guarantees nothing.
  const { safeParse } = (schema ?? {}) as Partial<z.ZodType<Options>>;
  if (typeof safeParse !== 'function') throw new TypeError('options must be a zod schema, such as z.strictObject({})');
  const result = (schema as z.ZodType<Options>).safeParse(given);
  return result.success ? { options: result.data } : { faults: optionFaults(schema, result.error.issues) };
}

/** Issues that a schema reports, with one fault for each unknown option and the name that was probably meant. */
export function optionFaults(schema: unknown, issues: readonly z.core.$ZodIssue[]): OptionFault[] {
  return issues.flatMap((issue): OptionFault[] => {
    if (issue.code !== 'unrecognized_keys') return [issue];
    const known = namesAt(schema, issue.path);
    return issue.keys.map((key) => {
      const guess = closestName(key, known);
      const path = [...issue.path, key];
      return { path, message: `unknown option${guess === undefined ? '' : `, did you mean ${guess}?`}` };
    });
  });
}

/** Option names of an object schema below a path; none without a `shape`. It may come from another copy of zod. */
function namesAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  let at = schema as { readonly shape?: Readonly<Record<PropertyKey, unknown>> } | undefined;
  for (const key of path) at = at?.shape?.[key] as typeof at;
  return Object.keys(at?.shape ?? {});
}
