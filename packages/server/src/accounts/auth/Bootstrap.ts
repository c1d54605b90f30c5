import { UserId } from "@scheduling/domain/shared/Ids"
import { Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, InvalidConfig } from "../../core/index.ts"
import { transactionOf } from "../../store/index.ts"
import { authorize } from "../access/authorize.ts"
import { Accounts } from "../Accounts.ts"
import { ApiKeys } from "../api-keys/ApiKeys.ts"
import { EmailLinks } from "../email/EmailLinks.ts"
import { operatorOrigin } from "../operatorOrigin.ts"
import { checkNewPassword } from "../passwords/checkNewPassword.ts"
import { UsersRepo } from "../users/UsersRepo.ts"
import { writeKeyFile } from "./writeKeyFile.ts"

/**
 * Creates the first account from the `BOOTSTRAP_…` settings, unless an account exists. The node
 * serves no requests until this is done.
 */
export const BootstrapLayer: Layer.Layer<
  never,
  InvalidConfig,
  Accounts | ApiKeys | AppConfig | EmailLinks | SqlClient.SqlClient | UsersRepo
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { bootstrap } = yield* AppConfig
    const users = yield* UsersRepo
    if (bootstrap === undefined || !(yield* users.isEmpty)) return
    const accounts = yield* Accounts
    const apiKeys = yield* ApiKeys
    const emailLinks = yield* EmailLinks
    const transaction = transactionOf(yield* SqlClient.SqlClient)
    const { apiKeyFile, email, password, workspace: workspaceName } = bootstrap

    yield* Effect.mapError(
      checkNewPassword(password, email, "password"),
      ({ issues }) =>
        new InvalidConfig({ message: `BOOTSTRAP_PASSWORD: ${issues[0]?.message ?? ""}` })
    )
    const create = Effect.gen(function* () {
      // Meanwhile, another node could create the account, or a user could register.
      yield* users.lockAll
      if (!(yield* users.isEmpty)) return
      const { row, workspace } = yield* Effect.orDie(
        accounts.create({ email, password, workspace: workspaceName })
      )
      // The operator vouches for the email. If it were unverified, the first password reset by
      // email would revoke everything created until then.
      const token = yield* emailLinks.make(row)
      if (Option.isSome(token)) {
        yield* Effect.orDie(emailLinks.use(token.value, operatorOrigin))
      }
      if (apiKeyFile !== undefined) {
        const key = yield* Effect.mapError(
          apiKeys.createFirst(authorize(workspace.id), UserId.make(row.id)),
          ({ message }) => new InvalidConfig({ message: `BOOTSTRAP_API_KEY_FILE: ${message}` })
        )
        // The file is written before the commit, so that no account exists without its key.
        yield* writeKeyFile(apiKeyFile, Redacted.value(key))
      }
      yield* Effect.logInfo("the first account and its workspace are created").pipe(
        Effect.annotateLogs({ user_id: row.id, workspace_id: workspace.id })
      )
    })
    yield* transaction(create)
  })
)
