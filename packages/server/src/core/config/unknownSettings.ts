import { nearestName } from "@scheduling/domain/shared/nearestName"

export interface UnknownSetting {
  readonly name: string
  readonly meant: string
}

/**
 * The variables that look like a setting and are none, each with the setting that was probably
 * meant. Other programs share the environment, so a variable has to be very close: the same letters
 * without the underscores, or a letter or two beside them.
 */
export const unknownSettings = (
  variables: ReadonlyArray<string>,
  settings: ReadonlySet<string>
): ReadonlyArray<UnknownSetting> =>
  variables
    .filter((name) => !settings.has(name))
    .flatMap((name) => {
      // Only some settings may be given as files.
      const meant = [name, name.replace(/_FILE$/, "")]
        .map((text) => nearestName(text, settings, mistakes))
        .find((found) => found !== undefined)
      return meant === undefined ? [] : [{ name, meant }]
    })

/** The shorter a name, the more ordinary variables are near it, such as `POST` to `PORT`. */
const mistakes = ({ length }: string): number => (length < 6 ? -1 : length < 10 ? 1 : 2)
