import { Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { join } from "node:path"
import { AppConfig, type AppSecretUnreadable, Secrets } from "../core/index.ts"

export class WrongAppSecret extends Schema.TaggedError<WrongAppSecret>()("WrongAppSecret", {
  message: Schema.String
}) {}

/**
 * Prevents the start of a node whose secrets do not match the database. The database stores a value
 * that is derived from the current `APP_SECRET`. A node with another secret could not decrypt the
 * values that other nodes have encrypted, so it would fail runs and reject valid keys.
 *
 * If a node has the database's secret in `APP_SECRET_PREVIOUS`, it rotates the secret: from then
 * on, the `APP_SECRET` of this node is the current secret of the database.
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
          "Put back the file app-secret that belongs to the store, or set APP_SECRET to the secret with which the store was used."
        ]
      : [
          "APP_SECRET",
          "Set it to the APP_SECRET of the other nodes. To rotate the secret, keep the new APP_SECRET and put the old one into APP_SECRET_PREVIOUS."
        ]
  return (
    `${own} is not the secret of this database, and APP_SECRET_PREVIOUS does not contain the secret of the database either. ` +
    `${remedy} If the secret is lost, start once with APP_SECRET_LOST=${used}: ` +
    "all API keys, worker tokens and sessions become invalid, and values that were encrypted with the lost secret stay unreadable"
  )
}
