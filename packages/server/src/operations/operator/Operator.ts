import { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Email } from "@scheduling/domain/auth/emailAddress"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { isAbsolute } from "node:path"
import {
  type AccountAction,
  type AccountRow,
  Accounts,
  AuditChain,
  AuditLog,
  type AuditRow,
  authorize,
  AccountChangeMails,
  EmailLinks,
  operatorOrigin,
  PasswordResets,
  SecondFactors,
  SessionsRepo,
  SignInLinks,
  toAuditEvent,
  type UserRow,
  UsersRepo,
  SignInMethodsOfAccount,
  emailToVerify
} from "../../accounts/index.ts"
import { AppConfig } from "../../core/index.ts"
import { EndSignals } from "../../events/index.ts"
import { pageRequest, Store, timestampOf, transactionOf } from "../../store/index.ts"

import { backUpStore } from "./Backup.ts"

const usage = `npm run account -- <command>
  list                          lists all accounts
  create EMAIL                  creates an account, also with REGISTRATION=closed, and prints a token for its first sign-in
  reset-link EMAIL              prints a token that sets a new password, valid for an hour
  verify-link EMAIL             prints a token that verifies the email address, or the new one if a change is pending
  disable EMAIL                 ends all sessions of the account and rejects new logins
  enable EMAIL                  allows logins again
  sign-in-link EMAIL            prints a token that signs in to the control panel, valid for an hour
  ways-in EMAIL                 lists the ways to sign in: password, passkeys and identities
  unlink EMAIL                  removes the identities at identity providers and ends all sessions
  remove-passkeys EMAIL         removes the passkeys and ends all sessions
  remove-second-factor EMAIL    removes the second factor of somebody who lost the app and the recovery codes
npm run audit:verify            checks that the audit log is unchanged, and prints the hash of its last event
npm run audit:verify -- HASH    also checks that the event with this hash is still in the log
npm run audit:export -- ID      prints the events of a workspace as JSON lines, oldest first
npm run backup -- FOLDER        copies the embedded store into a new folder while the server runs
In the package, the commands are scheduling-service account, verify-audit, export-audit and backup.`

/** The reason why a command was rejected. */
export class CommandRejected extends Schema.TaggedError<CommandRejected>()("CommandRejected", {
  message: Schema.String
}) {}

/** The operator's commands about accounts, the audit log and backups. */
export class Operator extends Context.Service<
  Operator,
  { readonly run: (words: ReadonlyArray<string>) => Effect.Effect<string, CommandRejected> }
>()("@scheduling/server/operations/operator/Operator") {
  static readonly layer: Layer.Layer<
    Operator,
    never,
    | Accounts
    | AuditChain
    | AppConfig
    | AuditLog
    | AccountChangeMails
    | EmailLinks
    | EndSignals
    | PasswordResets
    | SecondFactors
    | SessionsRepo
    | SignInLinks
    | SqlClient.SqlClient
    | Store
    | UsersRepo
    | SignInMethodsOfAccount
  > = Layer.effect(
    Operator,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const { dataDir, passwordLogin } = yield* AppConfig
      const store = yield* Store
      const accounts = yield* Accounts
      const audit = yield* AuditLog
      const changeMails = yield* AccountChangeMails
      const chain = yield* AuditChain
      const emailLinks = yield* EmailLinks
      const endSignals = yield* EndSignals
      const factors = yield* SecondFactors
      const resets = yield* PasswordResets
      const sessions = yield* SessionsRepo
      const signInLinks = yield* SignInLinks
      const users = yield* UsersRepo
      const waysIn = yield* SignInMethodsOfAccount

      const record = (action: AccountAction, { id }: UserRow) =>
        audit.recordForAccount(action, id, { actor_id: null, origin: operatorOrigin })

      const signInLinkFor = Effect.fnUntraced(function* (user: UserRow) {
        const token = yield* signInLinks.make(user)
        return `${Redacted.value(token)}\nThis token signs in once within an hour, at /sign-in-link of the control panel.`
      })

      const tokenFor = Effect.fnUntraced(function* (user: UserRow) {
        const token = yield* resets.make(user, operatorOrigin)
        return `${Redacted.value(token)}\nThis token sets a new password within an hour, at /reset-password of the control panel, or by POST /v1/auth/password/reset with the fields token and new_password.`
      })

      const commands: Readonly<
        Record<string, (user: UserRow) => Effect.Effect<string, CommandRejected>>
      > = {
        "reset-link": Effect.fnUntraced(function* (user) {
          if (passwordLogin === "on") return yield* tokenFor(user)
          return yield* new CommandRejected({
            message:
              "Sign-in with passwords is turned off (PASSWORD_LOGIN=off). Use sign-in-link instead."
          })
        }),

        "sign-in-link": signInLinkFor,

        "ways-in": Effect.fnUntraced(function* (user) {
          const ways = yield* waysIn.list(user)
          return ways.length === 0 ? `${user.email} has no way to sign in.` : ways.join("\n")
        }),

        unlink: Effect.fnUntraced(function* (user) {
          const removed = yield* waysIn.unlink(user)
          if (removed === 0) {
            return yield* new CommandRejected({ message: `${user.email} has no identity.` })
          }
          return `The identities of ${user.email} were removed, and its sessions were ended. The next sign-in with this email links an identity again.`
        }),

        "remove-passkeys": Effect.fnUntraced(function* (user) {
          const removed = yield* waysIn.removePasskeys(user)
          if (removed === 0) {
            return yield* new CommandRejected({ message: `${user.email} has no passkey.` })
          }
          return `${removed} passkeys of ${user.email} were removed, and its sessions were ended.`
        }),

        "verify-link": Effect.fnUntraced(function* (user) {
          const token = yield* emailLinks.make(user)
          if (Option.isNone(token)) {
            return yield* new CommandRejected({ message: `${user.email} is already verified.` })
          }
          return `${Redacted.value(token.value)}\nThis token verifies ${emailToVerify(user)} within a week: POST /v1/auth/email/verify with the field token.`
        }),

        disable: Effect.fnUntraced(function* (user) {
          yield* users.updateDisabled(user.id, yield* DateTime.nowAsDate)
          const ended = yield* sessions.removeAll(user.id)
          yield* record("account.disabled", user)
          yield* sql.afterCommit(Effect.sync(() => endSignals.send([user.id])))
          return `${user.email} is disabled. ${ended} sessions were ended.`
        }, transaction),

        enable: Effect.fnUntraced(function* (user) {
          yield* users.updateDisabled(user.id, null)
          yield* record("account.enabled", user)
          return `${user.email} is enabled.`
        }, transaction),

        "remove-second-factor": Effect.fnUntraced(function* (user) {
          if (!(yield* factors.remove(user.id))) {
            return yield* new CommandRejected({ message: `${user.email} has no second factor.` })
          }
          yield* record("totp.disabled", user)
          yield* changeMails.send(user, "second factor off", operatorOrigin)
          return `The second factor of ${user.email} was removed. The password alone is now enough to log in.`
        }, transaction)
      }

      const create = Effect.fnUntraced(function* (email: string) {
        const { row } = yield* Effect.mapError(
          accounts.create({ email }),
          ({ message }) => new CommandRejected({ message })
        )
        return yield* passwordLogin === "on" ? tokenFor(row) : signInLinkFor(row)
      })

      const verifyAudit = Effect.fnUntraced(function* (knownHash?: string) {
        const { events, lastHash, problems } = yield* chain.verify(knownHash)
        if (problems.length > 0) return yield* new CommandRejected({ message: problems.join("\n") })
        const last = lastHash === "" ? "" : ` The last event has the hash ${lastHash}`
        return `${events} events are intact.${last}`
      })

      const backup = Effect.fnUntraced(function* (to: string) {
        if (store.kind !== "embedded") {
          return yield* new CommandRejected({
            message: "The store is PostgreSQL. Back it up with pg_dump."
          })
        }
        if (existsSync(to)) {
          return yield* new CommandRejected({
            message: `${to} already exists. Choose a folder that does not exist yet.`
          })
        }
        return yield* backUpStore(sql, { dataDir, to })
      })

      const exportAudit = Effect.fnUntraced(function* (workspaceId: string) {
        const lines: Array<string> = []
        let page = pageRequest({ limit: 100 })
        let rows: ReadonlyArray<AuditRow>
        do {
          rows = yield* audit.list(authorize(workspaceId), {}, page)
          const shown = rows.slice(0, page.limit)
          lines.push(...shown.map((row) => JSON.stringify(toAuditEvent(row))))
          page = { limit: page.limit, before: shown.at(-1)?.id ?? page.before }
        } while (rows.length > page.limit)
        return lines.toReversed().join("\n")
      })

      return Operator.of({
        run: Effect.fn("Operator.run")(function* ([command = "", text = "", ...more]) {
          if (command === "list" && text === "") {
            const rows = yield* users.listAll(maxListed)
            return rows.length === 0
              ? "There are no accounts."
              : rows.map(describeAccount).join("\n")
          }
          if (command === "verify-audit" && text === "") return yield* verifyAudit()
          if (command === "verify-audit" && isEventHash(text)) return yield* verifyAudit(text)
          if (command === "export-audit" && isWorkspaceId(text)) return yield* exportAudit(text)
          if (command === "backup" && isAbsolute(text)) return yield* backup(text)
          const run = commands[command]
          if ((run === undefined && command !== "create") || more.length > 0) {
            return yield* new CommandRejected({ message: usage })
          }
          const email = yield* Effect.mapError(
            decodeEmail(text),
            () => new CommandRejected({ message: `"${text}" is not an email address.` })
          )
          if (run === undefined) return yield* create(email)
          const user = yield* users.findByEmail(email)
          if (Option.isNone(user)) {
            return yield* new CommandRejected({ message: `No account has the email ${email}.` })
          }
          return yield* run(user.value)
        })
      })
    })
  )
}

const isWorkspaceId = Schema.is(WorkspaceId)

const isEventHash = (text: string) => /^[\w-]{43}$/.test(text)

const decodeEmail = Schema.decodeUnknownEffect(Email)

const maxListed = 10_000

const describeAccount = ({ created_at, disabled_at, email, has_second_factor }: AccountRow) =>
  [
    email,
    `since ${timestampOf(created_at)}`,
    ...(has_second_factor ? ["second factor"] : []),
    ...(disabled_at === null ? [] : [`disabled at ${timestampOf(disabled_at)}`])
  ].join("  ")
