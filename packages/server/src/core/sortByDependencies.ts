/**
 * Returns the items and all items on which they depend, sorted so that dependencies come first. A
 * cycle is broken at an arbitrary item. The search uses a stack instead of recursion, because
 * chains of dependencies may be long.
 */
export const sortByDependencies = <Item>(
  items: ReadonlyArray<Item>,
  dependenciesOf: (item: Item) => ReadonlyArray<Item>
): ReadonlyArray<Item> => {
  const ordered = new Set<Item>()
  const entered = new Set<Item>()
  const stack = items.toReversed()
  for (let item = stack.at(-1); item !== undefined; item = stack.at(-1)) {
    const missing = dependenciesOf(item).filter((other) => !ordered.has(other))
    if (missing.length > 0 && !entered.has(item)) {
      entered.add(item)
      stack.push(...missing)
      continue
    }
    stack.pop()
    ordered.add(item)
  }
  return [...ordered]
}
