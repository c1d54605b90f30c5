/**
 * Writes `schema.sql`: what all migrations together make, for people to read and to review.
 * With `--check` it compares instead and fails on a difference.
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
