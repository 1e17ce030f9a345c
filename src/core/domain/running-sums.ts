/** The addend of an item to each sum. */
export type Addends<Item, Name extends string> = Readonly<Record<Name, (item: Item) => number>>;

export const zeroSums = <Name extends string>(addends: Addends<never, Name>): Readonly<Record<Name, number>> =>
  Object.fromEntries(Object.keys(addends).map((name) => [name, 0])) as Record<Name, number>;

/** The sums with one more item; a missing sum begins at 0. */
export function addTo<Item, Name extends string>(
  sums: Readonly<Partial<Record<Name, number>>>,
  item: Item,
  addends: Addends<Item, Name>,
): Readonly<Record<Name, number>> {
  const names = Object.keys(addends) as Name[];
  return Object.fromEntries(names.map((name) => [name, (sums[name] ?? 0) + addends[name](item)])) as Record<
    Name,
    number
  >;
}
