import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { allowedHostOf, mayReceiveSecret } from "@scheduling/domain/secrets/allowedHosts"
import { Result } from "effect"
import type { OpenedSecrets } from "./CallSecrets.ts"

/**
 * Returns the values of the secrets that a call uses, or the reason why the call must not get them:
 * a secret is missing, or may not be sent to one of the URLs.
 */
export const secretValuesFor = (
  names: ReadonlySet<string>,
  secrets: OpenedSecrets,
  urls: ReadonlyArray<URL>
): Result.Result<ReadonlyMap<string, string>, ExecutionError> => {
  const values = new Map<string, string>()
  for (const name of names) {
    const secret = secrets.get(name)
    if (secret === undefined) return missing(`the workspace has no secret named ${name}`)
    if (secret.value === undefined) {
      return missing(`the secret ${name} can no longer be decrypted: set its value again`)
    }
    const refused = urls.find((url) => !mayReceiveSecret(url, secret.allowed_hosts))
    if (refused !== undefined) {
      return Result.fail(
        executionError(
          "secret_refused",
          `the secret ${name} may not be sent to ${refused.origin}: add "${allowedHostOf(refused)}" to its allowed_hosts`
        )
      )
    }
    values.set(name, secret.value)
  }
  return Result.succeed(values)
}

const missing = (message: string) => Result.fail(executionError("secret_missing", message))
