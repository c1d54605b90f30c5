/** Moves the embedded store to PostgreSQL: `npm run move -- --to URL`. */
import { Config, ConfigProvider, Effect, Redacted, References } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { withSecretFiles } from "./core/index.ts"
import { moveStore, runCommand } from "./operations/index.ts"

const usage =
  "npm run move -- --to postgres://USER:PASSWORD@HOST/DATABASE, or scheduling-service move --to …"

const program = Effect.gen(function* () {
  const { values } = yield* Effect.try({
    try: () => parseArgs({ options: { to: { type: "string" } } }),
    catch: () => new Error(usage)
  })
  const dataDir = path.resolve(
    yield* Config.NonEmptyString("DATA_DIR").pipe(Config.withDefault(".data"))
  )
  // `DATABASE_URL` can be used instead of an argument, because other users can read a command's
  // arguments.
  const provider = withSecretFiles(yield* ConfigProvider.ConfigProvider)
  const to =
    values.to ?? (yield* Config.String("DATABASE_URL").pipe(Config.withDefault("")).parse(provider))
  if (!/^postgres(?:ql)?:\/\//.test(to)) return yield* Effect.fail(new Error(usage))
  const moved = yield* moveStore({ dataDir, to: Redacted.make(to) })
  const secretFile = path.join(dataDir, "app-secret")
  const secret = fs.existsSync(secretFile) ? `APP_SECRET_FILE=${secretFile}` : "the same APP_SECRET"
  return [
    ...moved.filter(({ rows }) => rows > 0).map(({ rows, table }) => `${rows}\t${table}`),
    `Copied ${moved.reduce((sum, { rows }) => sum + rows, 0)} rows of ${moved.length} tables to PostgreSQL.`,
    `Now start the service with DATABASE_URL and ${secret}. Do not start the service without DATABASE_URL on ${dataDir} again: two services would run the same tasks.`
  ].join("\n")
})

await runCommand(Effect.provideService(program, References.MinimumLogLevel, "Error"))
