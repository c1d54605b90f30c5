/** Restores a backup of the embedded store into `DATA_DIR`: `npm run restore -- FOLDER`. */
import { Config, DateTime, Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { backupParts, copyIfExists, runCommand } from "./operations/index.ts"
import { makeFolder } from "./core/index.ts"
import { lockDataDir, restrictToOwner } from "./store/index.ts"

const program = Effect.gen(function* () {
  const dataDir = path.resolve(
    yield* Config.NonEmptyString("DATA_DIR").pipe(Config.withDefault(".data"))
  )
  const [from] = process.argv.slice(2)
  if (from === undefined || !fs.existsSync(path.join(from, "postgres", "PG_VERSION"))) {
    return yield* Effect.fail(
      new Error(
        from === undefined
          ? "npm run restore -- FOLDER, or scheduling-service restore FOLDER"
          : `${from} is not a backup: it has no file postgres/PG_VERSION`
      )
    )
  }
  makeFolder(dataDir)
  // Fails while a server uses the directory.
  yield* lockDataDir(dataDir)
  const now = (yield* DateTime.nowAsDate).toISOString().replaceAll(":", "")
  const kept = path.join(dataDir, `before-restore-${now}`)
  for (const name of backupParts) {
    const own = path.join(dataDir, name)
    if (fs.existsSync(own)) {
      fs.mkdirSync(kept, { recursive: true, mode: 0o700 })
      fs.renameSync(own, path.join(kept, name))
    }
    yield* Effect.promise(() => copyIfExists(path.join(from, name), own))
  }
  restrictToOwner(path.join(dataDir, "postgres"))
  return fs.existsSync(kept)
    ? `Restored the backup to ${dataDir}. The previous files are in ${kept}.`
    : `Restored the backup to ${dataDir}.`
}).pipe(Effect.scoped)

await runCommand(program)
