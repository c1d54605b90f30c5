import { Email } from "@scheduling/domain/auth/emailAddress"
import { NewPassword } from "@scheduling/domain/auth/User"
import { WorkspaceInput } from "@scheduling/domain/workspaces/Workspace"
import { Config, type Redacted, Result } from "effect"

/** The account that is created at the first start. */
export interface Bootstrap {
  readonly email: string
  readonly password: Redacted.Redacted
  /** The name of the workspace. If undefined, the workspace is named after its owner. */
  readonly workspace: string | undefined
  /** The file to which an API key of the workspace is written. */
  readonly apiKeyFile: string | undefined
}

const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

export const bootstrapSettings = Config.all({
  email: optional(Config.schema(Email, "BOOTSTRAP_EMAIL")),
  password: optional(Config.schema(NewPassword, "BOOTSTRAP_PASSWORD")),
  workspace: optional(Config.schema(WorkspaceInput.fields.name, "BOOTSTRAP_WORKSPACE")),
  apiKeyFile: optional(Config.NonEmptyString("BOOTSTRAP_API_KEY_FILE"))
})

/**
 * Validates that the settings of the first account are complete. A failure lists the missing
 * settings.
 */
export const checkBootstrap = ({
  apiKeyFile,
  email,
  password,
  workspace
}: Config.Success<typeof bootstrapSettings>): Result.Result<Bootstrap | undefined, string> => {
  if (email !== undefined && password !== undefined) {
    return Result.succeed({ email, password, workspace, apiKeyFile })
  }
  const given = Object.entries({
    BOOTSTRAP_EMAIL: email,
    BOOTSTRAP_PASSWORD: password,
    BOOTSTRAP_WORKSPACE: workspace,
    BOOTSTRAP_API_KEY_FILE: apiKeyFile
  }).find(([, value]) => value !== undefined)
  if (given === undefined) return Result.succeed(undefined)
  const missing = [
    ...(email === undefined ? ["BOOTSTRAP_EMAIL"] : []),
    ...(password === undefined ? ["BOOTSTRAP_PASSWORD_FILE"] : [])
  ]
  return Result.fail(`${given[0]} needs ${missing.join(" and ")}`)
}
