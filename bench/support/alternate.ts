/**
 * Measures in the order A B A B, so that other load on the machine affects A and B alike. Returns
 * the results of each contender's rounds.
 */
export const alternate = async <Name extends string, A>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<A>>>
): Promise<Readonly<Record<Name, ReadonlyArray<A>>>> => {
  const names = Object.keys(contenders) as Array<Name>
  const measured = {} as Record<Name, Array<A>>
  for (const name of names) measured[name] = []
  for (let round = 0; round < rounds; round++) {
    for (const name of names) measured[name].push(await contenders[name]())
  }
  return measured
}
