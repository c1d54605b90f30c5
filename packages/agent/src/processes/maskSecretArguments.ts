const mask = "***"

const secretName =
  "(?:pass(?:wd|word|phrase)?|pwd|secret|token|api[-_.]?key|access[-_.]?key|private[-_.]?key|auth|authorization|bearer|cookie|credentials?|signature|session)"

/** Matches an option whose value is the next argument, such as `--db-password` or `-token`. */
const secretOption = new RegExp(`^-{1,2}[\\w.-]*${secretName}$`, "i")

/** Matches a header or field whose value is the next word, such as `Authorization:` or `Bearer`. */
const secretField = new RegExp(`${secretName}\\w*["']?[:=]$|^(?:basic|bearer|token)$`, "i")

/** Matches a named secret, such as `DB_PASSWORD=x`, `--token=x`, `?api_key=x` or `"secret":"x"`. */
const secretValue = new RegExp(`(${secretName}\\w*["']?[:=])[^\\s]+`, "gi")

const userInfo = /(\w:\/\/)[^\s/@]+@/g

/** Matches a long sequence of letters and digits, which is probably random. */
const randomSequence = /\b(?=\w*\d)(?=\w*[A-Za-z])\w{20,}/g

/** Matches keys of this service and other well-known services by their prefixes. */
const knownKey =
  /\b(?:pak|pwk|phk|whsec|sk|pk|rk|ghp|gho|ghs|glpat|xox[a-z]|eyJ|AKIA|AIza)[-_]?[\w.+/=-]{12,}/g

/**
 * Masks the arguments of a command line that look like secrets. If in doubt, an argument is masked.
 * A monitor cannot match masked text.
 */
export const maskSecretArguments = (commandLine: string): string => {
  let isValueNext = false
  return commandLine
    .split(/\s+/)
    .map((word) => {
      const isValue = isValueNext && !secretField.test(word)
      isValueNext = secretOption.test(word) || secretField.test(word)
      return isValue ? mask : maskSecretsIn(word)
    })
    .join(" ")
}

const maskSecretsIn = (word: string): string =>
  word
    .replace(secretValue, `$1${mask}`)
    .replace(userInfo, `$1${mask}@`)
    .replace(knownKey, mask)
    .replace(randomSequence, mask)
