/** The labels that somebody has typed. */
export const labelsOf = (text: string): ReadonlyArray<string> =>
  text.split(/[\s,]+/).filter((label) => label !== "")
