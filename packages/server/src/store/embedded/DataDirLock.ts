import { Data, Effect } from "effect"
import type { Scope } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { EmbeddedStoreError } from "./EmbeddedStoreError.ts"
import { setMode } from "./restrictToOwner.ts"

export class DataDirInUse extends Data.TaggedError("DataDirInUse")<{
  readonly dataDir: string
  readonly holder: string
}> {
  override get message(): string {
    return `The data directory ${this.dataDir} is in use by ${this.holder}`
  }
}

const sqliteBusy = 5

/**
 * Locks the data directory until the scope closes.
 *
 * The lock is a kernel lock on a file, taken through SQLite because Node has no API for it. The
 * kernel releases it when the process dies for any reason, so it is never stale. A pid file would
 * prove nothing: pids are reused, and in containers every service is pid 1. The lock also works
 * between two containers that share a volume. An abstract socket would not, because it belongs to
 * one network namespace. The file next to the lock only shows people which process holds it.
 */
export const lockDataDir = (
  dataDir: string
): Effect.Effect<void, DataDirInUse | EmbeddedStoreError, Scope.Scope> => {
  const holderFile = path.join(dataDir, "postgres.pid")
  return Effect.acquireRelease(
    Effect.try({
      try: () => {
        const file = path.join(dataDir, "postgres.lock")
        const lock = new DatabaseSync(file, { timeout: 0 })
        try {
          setMode(file, 0o600)
          // With its journal in memory, SQLite writes no journal file next to the lock file.
          lock.exec("PRAGMA journal_mode = MEMORY")
          lock.exec("BEGIN EXCLUSIVE")
        } catch (cause) {
          lock.close()
          throw cause
        }
        const holder = `process ${process.pid} on ${os.hostname()}\n`
        fs.writeFileSync(holderFile, holder, { mode: 0o600 })
        return lock
      },
      catch: (cause) =>
        cause instanceof Error && "errcode" in cause && cause.errcode === sqliteBusy
          ? new DataDirInUse({ dataDir, holder: readHolder(holderFile) })
          : new EmbeddedStoreError({ dataDir, reason: "the directory cannot be locked", cause })
    }),
    (lock) =>
      Effect.sync(() => {
        fs.rmSync(holderFile, { force: true })
        lock.close()
      })
  ).pipe(Effect.asVoid)
}

const readHolder = (holderFile: string): string => {
  try {
    return fs.readFileSync(holderFile, "utf8").trim() || "another process"
  } catch {
    return "another process"
  }
}
