import { Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { join } from "node:path"
import { AppConfig, type AppSecretUnreadable, Secrets } from "../core/index.ts"

export class WrongAppSecret extends Schema.TaggedError<WrongAppSecret>()("WrongAppSecret", {
  message: Schema.String
}) {}

/**
 * The secrets of a node, after a check that they fit the database, which keeps a value derived from
 * the latest `APP_SECRET`. A node with other secrets could not open what the other nodes have
 * sealed, so runs would fail and valid keys be refused, depending on the node. Such a node does not
 * start.
 *
 * A node that has the secret in `APP_SECRET_PREVIOUS` rotates it: from then on its own secret is
 * the current one.
 */
const AppSecretCheck: Layer.Layer<
  never,
  WrongAppSecret | SqlError.SqlError,
  AppConfig | Secrets | SqlClient.SqlClient
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* AppConfig
    const sql = yield* SqlClient.SqlClient
    const [current, ...retired] = (yield* Secrets).keys("check")
    const replaceable = new Set([...retired.map(({ id }) => id), config.appSecretLost])

    const used = yield* Effect.gen(function* () {
      yield* sql`
          INSERT INTO app_secret (check_value)
          VALUES (${current.id})
          ON CONFLICT DO NOTHING`
      const [row] = yield* sql<{ readonly check_value: string }>`
          SELECT check_value
          FROM app_secret
          FOR UPDATE`
      const used = row?.check_value ?? current.id
      if (used === current.id || !replaceable.has(used)) return used
      yield* sql`
          UPDATE app_secret
          SET check_value = ${current.id}`
      return current.id
    }).pipe(sql.withTransaction)

    if (used === current.id) return
    return yield* new WrongAppSecret({ message: explain(used, config) })
  })
)

export const CheckedSecretsLayer: Layer.Layer<
  Secrets,
  AppSecretUnreadable | WrongAppSecret | SqlError.SqlError,
  AppConfig | SqlClient.SqlClient
> = Layer.provideMerge(AppSecretCheck, Secrets.layer)

const explain = (used: string, { appSecret, dataDir }: AppConfig["Service"]) => {
  const [own, remedy] =
    appSecret === undefined
      ? [
          `the secret in ${join(dataDir, "app-secret")}`,
          "Put back the file app-secret that belongs to the store, or set APP_SECRET to the secret that it was used with."
        ]
      : [
          "APP_SECRET",
          "Set it to the APP_SECRET of the other nodes. To replace that one by this one, put that one into APP_SECRET_PREVIOUS."
        ]
  return (
    `${own} is not the secret that this database is used with, and APP_SECRET_PREVIOUS does not have that one either. ` +
    `${remedy} If it is lost, start once with APP_SECRET_LOST=${used}: ` +
    "API keys, worker tokens and sessions end, and what was sealed with it cannot be opened any more"
  )
}
