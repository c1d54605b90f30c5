export const namesOf = (labels: ReadonlyArray<string>): string =>
  labels.length === 0 ? "no labels" : labels.join(", ")

/**
 * A warning that names the labels of the agent that the worker lacks. Undefined if there are none.
 */
export const missingLabels = (
  wanted: ReadonlyArray<string> | undefined,
  welcomed: ReadonlyArray<string>
): string | undefined => {
  const missing = wanted?.filter((one) => !welcomed.includes(one)) ?? []
  if (missing.length === 0) return undefined
  const names = missing.map((one) => `"${one}"`).join(", ")
  return welcomed.length === 0
    ? `the worker does not have the label ${names}: the agent takes no runs`
    : `the worker does not have the label ${names}: the agent takes no runs for it`
}
