/**
 * Returns the name that a misspelt name probably stands for. They may differ in at most `most`
 * letters, each of which is different, missing, added or swapped. Case and underscores are ignored.
 */
export const nearestName = (
  given: string,
  names: Iterable<string>,
  most: (name: string) => number
): string | undefined => {
  let nearest: string | undefined
  let least = Infinity
  for (const name of names) {
    const distance = editDistance(letters(given), letters(name))
    if (distance > most(name) || distance >= least) continue
    nearest = name
    least = distance
  }
  return nearest
}

const letters = (name: string) => name.replaceAll("_", "").toUpperCase()

/** Returns the number of letters to add, remove, replace or swap with a neighbour. */
const editDistance = (one: string, other: string): number => {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity
  for (let row = 1; row <= one.length; row++) {
    const distances = [row]
    rows.push(distances)
    for (let column = 1; column <= other.length; column++) {
      const isSameValue = one[row - 1] === other[column - 1]
      const isExchanged =
        one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1] && !isSameValue
      distances.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSameValue ? 0 : 1),
          isExchanged ? at(row - 2, column - 2) + 1 : Infinity
        )
      )
    }
  }
  return at(one.length, other.length)
}
