export const formatLabels = (labels: ReadonlyArray<string>): string =>
  labels.length === 0 ? "no labels" : labels.join(", ")

export const missingLabelsWarning = (
  wanted: ReadonlyArray<string> | undefined,
  welcomed: ReadonlyArray<string>
): string | undefined => {
  const missing = wanted?.filter((one) => !welcomed.includes(one)) ?? []
  if (missing.length === 0) return undefined
  const names = missing.map((one) => `"${one}"`).join(", ")
  return welcomed.length === 0
    ? `the worker does not have the label ${names}: the agent claims no runs until you add it to the worker`
    : `the worker does not have the label ${names}: the agent claims no runs for it until you add it to the worker`
}
