import { findKey } from './keys.ts';
import { givenTwice, type Setting } from './yaml-settings.ts';

/** Messages about keys that a file gives twice: in a section begun again, with its dotted name, or in milliseconds. */
export function repeatedSettings(settings: readonly Setting[]): string[] {
  const errors: string[] = [];
  const first = new Map<string, Setting>();
  for (const setting of settings) {
    // What is no key is told as such.
    const key = setting.key === 'hosts' ? setting.key : findKey(setting.key)?.key.key;
    if (key === undefined) continue;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, setting);
    else errors.push(givenTwice(key, earlier.keyOrigin, setting.keyOrigin));
  }
  return errors;
}
