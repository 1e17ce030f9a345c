/**
 * Freezes lists and plain objects to their depth, and returns the value. Other objects, such as a RegExp or bytes that
 * a schema made of an option, do not work frozen and stay as they are.
 */
export function deepFreeze<Value>(value: Value): Value {
  if (isPlain(value) && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) deepFreeze(each);
  }
  return value;
}

/** A list, or an object that is no instance of a class. */
export function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
