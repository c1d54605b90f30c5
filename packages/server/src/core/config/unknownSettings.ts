import { nearestName } from "@scheduling/domain/shared/nearestName"

export interface UnknownSetting {
  readonly name: string
  readonly meant: string
}

/**
 * Finds variables that are probably misspelled settings. Other programs share the environment, so a
 * variable must be very similar to a setting: equal without underscores, or different by one or two
 * letters.
 */
export const unknownSettings = (
  variables: ReadonlyArray<string>,
  settings: ReadonlySet<string>
): ReadonlyArray<UnknownSetting> =>
  variables
    .filter((name) => !settings.has(name))
    .flatMap((name) => {
      // Only some settings can be read from files, so somebody who sets `<NAME>_FILE` may mean
      // `<NAME>`.
      const meant = [name, name.replace(/_FILE$/, "")]
        .map((text) => nearestName(text, settings, maxTypos))
        .find((found) => found !== undefined)
      return meant === undefined ? [] : [{ name, meant }]
    })

/**
 * The maximum edit distance. -1 for short names, which are too easily confused with other
 * variables: `POST` with `PORT`.
 */
const maxTypos = ({ length }: string): number => (length < 6 ? -1 : length < 10 ? 1 : 2)
