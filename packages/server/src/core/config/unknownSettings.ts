import { nearestName } from "@scheduling/domain/shared/nearestName"

export interface UnknownSetting {
  readonly name: string
  readonly meant: string
}

/**
 * Variables that look like a setting, each with the setting that was probably meant. Other programs
 * share the environment, so a variable must be very close: equal without the underscores, or
 * different by one or two letters.
 */
export const unknownSettings = (
  variables: ReadonlyArray<string>,
  settings: ReadonlySet<string>
): ReadonlyArray<UnknownSetting> =>
  variables
    .filter((name) => !settings.has(name))
    .flatMap((name) => {
      // Only some settings may be read from files.
      const meant = [name, name.replace(/_FILE$/, "")]
        .map((text) => nearestName(text, settings, mistakes))
        .find((found) => found !== undefined)
      return meant === undefined ? [] : [{ name, meant }]
    })

/** Short names are close to ordinary variables, such as `POST` to `PORT`. */
const mistakes = ({ length }: string): number => (length < 6 ? -1 : length < 10 ? 1 : 2)
