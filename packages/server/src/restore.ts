/**
 * The program behind `npm run restore -- FOLDER`. Puts a backup of the embedded store where the server
 * finds it.
 */
import { Config, DateTime, Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { backedUp, copy, runCommand } from "./operations/index.ts"
import { makeFolder } from "./core/index.ts"
import { holdDataDir, ownerOnly } from "./store/index.ts"

const program = Effect.gen(function* () {
  const dataDir = path.resolve(
    yield* Config.NonEmptyString("DATA_DIR").pipe(Config.withDefault(".data"))
  )
  const [from] = process.argv.slice(2)
  if (from === undefined || !fs.existsSync(path.join(from, "postgres", "PG_VERSION"))) {
    return yield* Effect.fail(
      new Error(from === undefined ? "npm run restore -- FOLDER" : `${from} is no backup`)
    )
  }
  makeFolder(dataDir)
  // Fails while a server runs on it.
  yield* holdDataDir(dataDir)
  const now = (yield* DateTime.nowAsDate).toISOString().replaceAll(":", "")
  const kept = path.join(dataDir, `before-restore-${now}`)
  for (const name of backedUp) {
    const own = path.join(dataDir, name)
    if (fs.existsSync(own)) {
      fs.mkdirSync(kept, { recursive: true, mode: 0o700 })
      fs.renameSync(own, path.join(kept, name))
    }
    yield* Effect.promise(() => copy(path.join(from, name), own))
  }
  ownerOnly(path.join(dataDir, "postgres"))
  return fs.existsSync(kept)
    ? `${dataDir} is as it was backed up. What was there is in ${kept}.`
    : `${dataDir} is as it was backed up.`
}).pipe(Effect.scoped)

await runCommand(program)
