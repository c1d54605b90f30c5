/**
 * Writes `schema.sql`, the schema that all migrations together create, for people to review. With
 * `--check` it compares instead and fails on a difference.
 */
import { Effect, References } from "effect"
import { embeddedLayer } from "../src/store/Sql.ts"
import { dumpSchema } from "./dumpSchema.ts"
import { writeOrCheck } from "./writeOrCheck.ts"

const schema = await Effect.runPromise(
  dumpSchema.pipe(
    Effect.provide(embeddedLayer({ dataDir: undefined })),
    Effect.provideService(References.MinimumLogLevel, "Warn")
  )
)

writeOrCheck(new URL("../schema.sql", import.meta.url), schema)
