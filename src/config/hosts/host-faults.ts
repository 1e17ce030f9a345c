import type { z } from 'zod';
import { closestName } from '../../domain/closest-name.ts';
import type { Setting } from '../yaml-settings.ts';
import { HOST_KEYS } from './host-keys.ts';

/** Keys whose values are no secrets, even where they are written wrongly: a message repeats these alone. */
const REPEATED: ReadonlySet<PropertyKey> = new Set([
  'match',
  'delay',
  'connections',
  'depth',
  'fetchesPerDay',
  'cookies',
  'protocol',
  'http2',
  'render',
  'minInterval',
  'maxInterval',
  'priority',
]);

/** The faults of `hosts:` that an issue of its schema stands for, with their places. */
export function hostFaults(setting: Setting | undefined, issue: z.core.$ZodIssue): string[] {
  const path = issue.path.slice(1);
  const name = `hosts${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')}`;
  const place = setting?.placeOf?.(path) ?? setting?.origin ?? 'default';
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const guess = path.length === 1 ? closestName(key, Object.keys(HOST_KEYS)) : undefined;
      const at = setting?.placeOf?.([...path, key]) ?? place;
      return `${at} ${name}.${key}: unknown key${guess === undefined ? '' : `, did you mean ${guess}?`}`;
    });
  }
  const given = path.reduce<unknown>((inner, step) => (inner as never)?.[step], setting?.value);
  const isRepeated = REPEATED.has(path[1] ?? '') && path.length === 2 && given !== undefined;
  return [`${place} ${name}: ${issue.message}${isRepeated ? `, got ${JSON.stringify(given)}` : ''}`];
}

/** Each entry as it was written, and where. */
export function hostOrigins(setting: Setting | undefined): [string, { value: unknown; origin: string }][] {
  if (!Array.isArray(setting?.value)) return [];
  return setting.value.map((value: unknown, i) => [
    `hosts[${i}]`,
    { value, origin: setting.placeOf?.([i]) ?? setting.origin },
  ]);
}
